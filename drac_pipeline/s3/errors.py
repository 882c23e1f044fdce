"""What can go wrong with object storage, by kind, with the object, the cause and the way out."""

from __future__ import annotations

from botocore import exceptions as boto
from botocore.exceptions import BotoCoreError, ClientError

from drac_pipeline.errors import StorageError


class NoCredentials(StorageError):
    """Nobody says who is asking."""

    kind = "no credentials"


class CredentialsRefused(StorageError):
    """Who asks is not known, or not any more."""

    kind = "credentials refused"


class AccessDenied(StorageError):
    """Who asks may not do that."""

    kind = "access denied"


class NoBucket(StorageError):
    """There is no such bucket, or it is elsewhere."""

    kind = "no bucket"


class Throttled(StorageError):
    """Too many requests, after all attempts."""

    kind = "throttled"


class Unreachable(StorageError):
    """No answer, after all attempts."""

    kind = "storage unreachable"


_NO_CREDENTIALS = (
    boto.NoCredentialsError,
    boto.PartialCredentialsError,
    boto.CredentialRetrievalError,
    boto.ProfileNotFound,
    boto.SSOError,
)
_REFUSED = {
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "InvalidToken",
    "RequestTimeTooSkewed",
    "RequestExpired",
    "TokenRefreshRequired",
}
_THROTTLED = {
    "SlowDown",
    "503",
    "ServiceUnavailable",
    "Throttling",
    "ThrottlingException",
    "RequestLimitExceeded",
    "TooManyRequests",
    "TooManyRequestsException",
    "429",
}
_ELSEWHERE = {
    "PermanentRedirect",
    "301",
    "AuthorizationHeaderMalformed",
    "IllegalLocationConstraintException",
}


def storage_error(error: ClientError | BotoCoreError, what: str) -> StorageError:
    """The error of `what` was asked for (`GET s3://bucket/key`)."""
    if isinstance(error, ClientError):
        return _answered(error, what)
    if isinstance(error, _NO_CREDENTIALS):
        return NoCredentials(
            f"{what}: {error}",
            remedy="Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a"
            " role.",
        )
    if isinstance(error, boto.NoRegionError):
        return NoCredentials(f"{what}: no region is named", remedy="Set AWS_REGION, or region in drac.toml.")
    if isinstance(error, boto.HTTPClientError | boto.ConnectionError | boto.ResponseStreamingError):
        return Unreachable(
            f"{what}: {error}",
            remedy="Is the endpoint right (endpoint_url) and reachable from here? Run again when it is: what"
            " was finished is kept.",
        )
    return StorageError(f"{what}: {type(error).__name__}: {error}")


def _answered(error: ClientError, what: str) -> StorageError:
    code = str(error.response.get("Error", {}).get("Code", ""))
    message = str(error.response.get("Error", {}).get("Message", "")).rstrip(".")
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    told = f"{what}: {code}{f' ({message})' if message else ''}"
    if code == "NoSuchBucket":
        return NoBucket(told, remedy="Create the bucket, or correct its name in the address.")
    if code in _ELSEWHERE:
        return NoBucket(
            told, remedy="The bucket is in another region: set region in drac.toml or AWS_REGION."
        )
    if code in _REFUSED:
        return CredentialsRefused(
            told,
            remedy="Renew the credentials (`aws sso login`, a new key), and set the clock right.",
        )
    if code in _THROTTLED or status in (429, 503):
        return Throttled(
            told, remedy="Run again later: what was finished is kept. Fewer requests at once: [store]."
        )
    if code in ("AccessDenied", "403", "AllAccessDisabled", "AccountProblem") or status == 403:
        return AccessDenied(
            told, remedy="Allow the action for these credentials: docs/object-storage.md lists all of them."
        )
    if status >= 500:
        return Unreachable(
            told, remedy="The service has a fault: run again later. What was finished is kept."
        )
    return StorageError(told)
