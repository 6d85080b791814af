"""Cells of text and attributes of graphs as values: numbers, whole numbers, categories, gaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wlhn.errors import InputError
from wlhn.words import listed

if TYPE_CHECKING:
    import pandas as pd

# How people write nothing between numbers.
GAPS = ("NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "NAN", "null", "NULL", "None")
MOST_CLASSES = 100  # whole numbers with more values are numbers, not classes
LONGEST_NAME = 200
FEW_CLASSES = 20  # with more values, each must stand for ten items to be a class


def typed(text: pd.Series, decimal_comma: bool = False) -> pd.Series:
    """A column of text as numbers if all that is not a gap is one; whole numbers are whole however they are written.

    >>> import pandas as pd
    >>> typed(pd.Series(["1", None, "3"])).tolist()
    [1, <NA>, 3]
    >>> typed(pd.Series(["1.0", "3.0"])).tolist()
    [1, 3]
    >>> typed(pd.Series(["0,5", "1"]), decimal_comma=True).tolist()
    [0.5, 1.0]
    """
    import pandas as pd

    given = text.mask(text.isin(GAPS))
    numbers = _numbers(given)
    if numbers is None and decimal_comma:
        numbers = _numbers(given.str.replace(",", ".", regex=False)) if given.str.count(",").max() == 1 else None
    if numbers is None:
        return text
    known = numbers.dropna()
    if not pd.api.types.is_float_dtype(numbers) or not len(known):
        return numbers
    # pandas writes whole numbers beside gaps as 1.0, also when the rows with gaps have been left out since
    if bool((known == np.floor(known)).all()) and known.abs().max() < 2**53:
        return numbers.astype("Int64")
    return numbers


def attributes(values: list[Any], index: Any) -> pd.Series:
    """A column of attributes, None where there is none; text where numbers and text are mixed."""
    import pandas as pd

    given = [value for value in values if value is not None and value == value]  # NaN is a gap
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if all(isinstance(value, bool | np.bool_) for value in given):
        return pd.Series(plain, index, dtype=object if len(given) < len(values) else bool)
    if all(isinstance(value, int | float | np.number) for value in given):
        whole = all(isinstance(value, int | np.integer) and abs(int(value)) < 2**53 for value in given)
        numbers = pd.Series([None if v is None else _as_float(v) for v in plain], index, dtype=np.float64)
        return numbers.astype("Int64") if whole and given else numbers
    return pd.Series([None if value is None or value != value else str(value) for value in plain], index, dtype=object)


def is_numeric(values: pd.Series) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(values)) and not bool(pd.api.types.is_bool_dtype(values))


def are_classes(distinct: int, given: int) -> bool:
    """Whether whole numbers with so many different values among so many are classes.

    >>> are_classes(5, 20), are_classes(40, 100), are_classes(40, 1000)
    (True, False, True)
    """
    return distinct <= FEW_CLASSES or (distinct <= MOST_CLASSES and distinct <= given / 10)


def categories_of(values: pd.Series) -> tuple[Any, ...]:
    """The different values in their order, gaps not among them; whole floats as integers."""
    known = list(dict.fromkeys(values.dropna().tolist()))
    if all(isinstance(value, int | float) for value in known):
        known = [int(v) if isinstance(v, float) and v.is_integer() else v for v in known]
    return tuple(sorted(known, key=lambda value: (isinstance(value, str), value)))


def coded(values: pd.Series, categories: tuple[Any, ...]) -> NDArray[np.int64]:
    """Positions among the categories, of which None is that of gaps; −1 for what is not among them.

    The number 1 and the text "1" are the same: a table that has no other text has numbers.

    >>> import pandas as pd
    >>> coded(pd.Series([2, 1, 3]), ("1", "2", "many")).tolist(), coded(pd.Series(["2", "many"]), (1, 2)).tolist()
    ([1, 0, -1], [1, -1])
    """
    place = {_written(value): code for code, value in enumerate(categories)}
    known = values.astype(object).where(values.notna(), None)
    return np.array([place.get(_written(value), -1) for value in known.tolist()], dtype=np.int64)


def _written(value: Any) -> str | None:
    """A category as text: whole floats, and yes and no, as integers.

    >>> _written(2.0), _written(True), _written("a")
    ('2', '1', 'a')
    """
    whole = isinstance(value, bool) or (isinstance(value, float) and value.is_integer())
    return None if value is None else str(int(value) if whole else value)


def stands_for(text: pd.Series, mark: str) -> NDArray[np.bool_]:
    """Where a mark stands in a column of text, as it is written or as a number."""
    import pandas as pd

    same = (text == mark).to_numpy(bool, na_value=False)
    try:
        number = float(mark)
    except ValueError:
        return same
    return same | (pd.to_numeric(text, errors="coerce") == number).to_numpy(bool, na_value=False)


def shown(value: Any) -> str:
    """A value as an error quotes it: on one line, its beginning where it is long.

    >>> shown(["two", "names"])
    "['two', 'names']"
    """
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value)[:41])
    return text if len(text) <= 40 else text[:40] + "…"


def named(values: Iterable[Any], most: int = 12) -> str:
    """Values in a sentence, each as an error quotes it, the first of them where there are many."""
    return listed(map(shown, values), most=most)


def check_name(name: str, where: str) -> None:
    """A column's name can be printed, since every message about it will."""
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(
            f"{where}: a column is called '{shown(name)}'; a name has at most {LONGEST_NAME} plain characters"
        )


def name_of(value: Any) -> Any:
    """A whole number in its usual form is one, all else is text without spaces around it, in every table alike.

    >>> name_of("7"), name_of("007"), name_of("ann ")
    (7, '007', 'ann')
    """
    value = value.strip() if isinstance(value, str) else value
    if isinstance(value, str) and len(value) < 19 and value.lstrip("-").isascii() and value.lstrip("-").isdigit():
        return int(value) if str(int(value)) == value else value
    return value


def _numbers(text: pd.Series) -> pd.Series | None:
    import pandas as pd

    try:
        numbers = pd.to_numeric(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if pd.api.types.is_object_dtype(numbers) or pd.api.types.is_unsigned_integer_dtype(numbers):
        return numbers.map(_as_float).astype(np.float64)  # beyond 64 bits
    return numbers if pd.api.types.is_numeric_dtype(numbers) else None


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
