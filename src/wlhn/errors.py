"""The exception a user's input can cause."""

LONGEST = 2000  # characters of a message: whatever it quotes, it stays a sentence


class InputError(ValueError):
    """Bad input: one sentence that names what is wrong (file, line or field) and what was expected.

    The command line prints it and leaves with exit code 2; in Python it is an ordinary `ValueError`.

    >>> raise InputError("labels.txt, line 3: expected an integer, found 'x'")
    Traceback (most recent call last):
    wlhn.errors.InputError: labels.txt, line 3: expected an integer, found 'x'
    """

    def __init__(self, message: str) -> None:
        sentence = " ".join(message.splitlines())
        half = LONGEST // 2 - 2
        super().__init__(sentence if len(sentence) <= LONGEST else f"{sentence[:half]} … {sentence[-half:]}")


class UnavailableError(InputError):
    """A data set that is neither here nor to be had: a table goes on without it, where a damaged one fails."""


class BusyError(InputError):
    """Another process is writing where this one wants to."""
