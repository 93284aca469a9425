"""The one exception that handlers raise on purpose, and how other exceptions are told."""

import errno


class Refused(Exception):
    """An answer that is not 2xx: status, a code for programs, a sentence for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def invalid(message: str) -> Refused:
    """Return the refusal of a request that can't be meant as sent."""
    return Refused(400, "INVALID_REQUEST", message)


STATUS_OF_ERRNO = {
    errno.ENOENT: (404, "FILE_NOT_FOUND"),
    errno.EACCES: (403, "PERMISSION_DENIED"),
    errno.EPERM: (403, "PERMISSION_DENIED"),
    errno.EROFS: (403, "PERMISSION_DENIED"),
    errno.EISDIR: (400, "INVALID_FILE"),
    errno.ENOTDIR: (400, "INVALID_FILE"),
    errno.ENOTEMPTY: (400, "INVALID_FILE"),
    errno.EEXIST: (400, "INVALID_FILE"),
    errno.ELOOP: (400, "INVALID_FILE"),
    errno.ENAMETOOLONG: (400, "INVALID_FILE"),
    errno.ENXIO: (400, "INVALID_FILE"),
    errno.ENOSPC: (507, "DISK_FULL"),
    errno.EDQUOT: (507, "DISK_FULL"),
}


def told(error: OSError) -> Refused:
    """Return what a client is told of `error`."""
    status, code = STATUS_OF_ERRNO.get(error.errno or 0, (500, "RUNTIME_ERROR"))
    return Refused(status, code, str(error))
