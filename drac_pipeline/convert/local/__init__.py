"""The local converter: reads PDF pages without a model."""
