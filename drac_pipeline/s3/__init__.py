"""Object storage that speaks S3: addresses, connections, requests and their errors."""
