"""Those checks of scikit-learn's `check_estimator` that pass no rows of numbers to `fit`: our input is graphs."""

from typing import Any

import networkx as nx
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

CHECKS = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)


def check_parameters(kind: Any, check: str) -> None:
    """One of the checks."""
    getattr(estimator_checks, check)(kind.__name__, kind())


def check_unfitted(kind: Any, *methods: str) -> None:
    """As theirs, with graphs."""
    for method in set(methods) & set(dir(kind)):
        with pytest.raises(NotFittedError):
            getattr(kind(), method)([nx.path_graph(3)])
