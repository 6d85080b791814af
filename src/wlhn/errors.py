"""The exception a user's input can cause."""


class InputError(ValueError):
    """Bad input: one sentence that names what is wrong (file, line or field) and what was expected.

    The command line prints it and leaves with exit code 2; in Python it is an ordinary `ValueError`.

    >>> raise InputError("labels.txt, line 3: expected an integer, found 'x'")
    Traceback (most recent call last):
    wlhn.errors.InputError: labels.txt, line 3: expected an integer, found 'x'
    """


class UnavailableError(InputError):
    """A data set that is neither here nor to be had: a table goes on without it, where a damaged one fails."""


class BusyError(InputError):
    """Another process is writing where this one wants to."""
