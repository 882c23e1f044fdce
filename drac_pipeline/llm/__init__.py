"""Model services: one small protocol, clients for it, and what makes their use safe and paid once.

Nothing here imports an SDK before a model is called.
"""
