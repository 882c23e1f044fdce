"""Pages read by a multimodal model: what it is told, how its replies are checked and put together."""
