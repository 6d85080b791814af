"""What estimators share: their parameters, training, saving, and graphs of any kind as a data set."""

from __future__ import annotations

import inspect
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from wlhn.data.dataset import Dataset, TargetLevel, TaskChoice, available
from wlhn.data.memory import as_dataset, graphs_in_memory
from wlhn.data.splits import Split, stratified_folds
from wlhn.errors import InputError
from wlhn.estimators.attributes import check_attributes
from wlhn.graphs.convert import one_by_one
from wlhn.models.registry import MODELS
from wlhn.nn.model import Model, described, option_parameters
from wlhn.options.option import unknown_option
from wlhn.runs.claim import claimed
from wlhn.runs.run_folder import load_run, read_config, save_run
from wlhn.runs.sharing import write_card
from wlhn.runs.trained import Trained
from wlhn.training.fit import fit
from wlhn.training.problem import Problem
from wlhn.training.provenance import code_version
from wlhn.training.settings import Settings, named_options, option_classes

SHARED_PARAMETERS = """    model: A model by name, or its class. Default 'wlhn'.
    validation_share: Share of the items held out to choose the epoch. Default 0.1.
    random_state: Seed of the weights, of dropout and of what is held out; None or a RandomState: each `fit` draws one.
        Default 0."""


class GraphEstimator(BaseEstimator):
    """What all estimators share.

    The options of the model and of its training are parameters too: those of `wlhn` are listed below, those of another
    model by `wlhn models MODEL`.
    """

    _level: TargetLevel = "graph"

    def __init__(
        self,
        *,
        model: str | type[Model] = "wlhn",
        validation_share: float = 0.1,
        random_state: int | np.random.RandomState | None = 0,
        **options: Any,
    ) -> None:
        self.model = model
        self.validation_share = validation_share
        self.random_state = random_state
        known = self._options()
        for name, value in options.items():
            if name not in known:
                raise TypeError(f"{type(self).__name__}: {unknown_option(str(self.model), name, known)}")
            setattr(self, name, value)

    def __init_subclass__(cls, **keywords: Any) -> None:
        """A signature and a docstring that name all parameters, for `help` and editors."""
        super().__init_subclass__(**keywords)
        first = [p for p in inspect.signature(GraphEstimator.__init__).parameters.values() if p.kind == p.KEYWORD_ONLY]
        owners = option_classes("wlhn")
        cls.__signature__ = inspect.Signature(
            [*first, *(parameter for owner in owners for parameter in option_parameters(owner))]
        )
        if cls.__doc__ is not None:
            listed = "\n".join(described(owner) for owner in owners)
            cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\nArgs:\n{SHARED_PARAMETERS}\n{listed}\n"

    def _model_name(self) -> str:
        if isinstance(self.model, str):
            return self.model
        if not (isinstance(self.model, type) and issubclass(self.model, Model)):
            raise InputError(f"model: must be a name or a class derived from wlhn.nn.model.Model, found {self.model!r}")
        return MODELS.name_of(self.model)

    def _options(self) -> dict[str, Any]:
        """The options of the model; of one that is not known, which `fit` will say, those of wlhn."""
        try:
            return named_options(self._model_name())
        except InputError:
            return named_options("wlhn")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters: those of every estimator, and the options of the model, with their defaults if not set."""
        own = super().get_params(deep)
        return own | {name: getattr(self, name, each.default) for name, each in self._options().items()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a new model comes first, since it decides which options there are."""
        if "model" in params:
            self.model = params.pop("model")
            for name in set(vars(self)) - set(super().get_params(deep=False)) - set(self._options()):
                if not name.endswith("_"):  # an option that the new model does not have
                    delattr(self, name)
        super().set_params(**params)
        return self

    def _settings(self) -> Settings:
        return Settings.of(
            self._model_name(), **{name: getattr(self, name) for name in self._options() if name in vars(self)}
        )

    def _seed(self) -> int:
        """The seed of one `fit`: a number is it, anything else that scikit-learn takes draws one."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _fit(self, dataset: Dataset, nodes: ArrayLike | None = None) -> Self:
        """Train on the items of a data set, those of its split, or some of its nodes; all if they have a target."""
        seed = self._seed()
        items = np.arange(len(dataset)) if nodes is None else _positions(nodes, len(dataset))
        split = _own_split(dataset) if nodes is None else None
        if split is None or not len(split.valid):
            items = items if split is None else split.train
            items = items[dataset.labelled[items]]
            split = _hold_out(dataset.y, items, self.validation_share, seed)
        problem = Problem(dataset, split, self._settings())
        fitted = fit(problem, seed)
        self.trained_ = Trained.of(problem, fitted)
        self.history_ = fitted.history
        self.n_iter_ = len(fitted.history)
        return self

    def _outputs(self, graphs: Any) -> NDArray[Any]:
        check_is_fitted(self, "trained_")
        data = graphs_of(graphs, self._level, self.trained_).graphs
        return np.concatenate([part.outputs for part in self.trained_.predict(data)])

    def save(self, folder: str | PathLike[str]) -> None:
        """Keep a fitted estimator in a new folder, without pickle."""
        check_is_fitted(self, "trained_")
        parameters = self.get_params() | {"model": self._model_name()}
        if isinstance(self.random_state, np.random.RandomState):
            parameters["random_state"] = None  # draws seeds too, and can be written down
        about = {"estimator": type(self).__name__, "parameters": parameters, "version": code_version()}
        with claimed(Path(folder), "", about="estimator") as ours:
            save_run(ours, self.trained_, about, {})

    def save_pretrained(self, folder: str | PathLike[str]) -> None:
        """As `save`, with a model card: the layout of the Hugging Face hub."""
        self.save(folder)
        write_card(Path(folder))

    @classmethod
    def from_pretrained(cls, folder: str | PathLike[str]) -> Self:
        """What `save_pretrained` kept."""
        return cls.load(folder)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """What `save` kept."""
        config = read_config(Path(folder))
        if config.get("estimator") != cls.__name__:
            raise InputError(f"{folder}: holds {config.get('estimator', 'a run')}, not a {cls.__name__}")
        try:
            estimator = cls(**config["parameters"])
        except (KeyError, TypeError) as error:
            raise InputError(f"{folder}, parameters: are not those of a {cls.__name__} ({error})") from None
        estimator.trained_ = load_run(Path(folder))
        return estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.non_deterministic = False
        return tags


def graphs_of(graphs: Any, level: TargetLevel, trained: Trained | None = None) -> Dataset:
    """Graphs of any kind as a data set, read as a trained model's were; its targets only where it is one already."""
    if isinstance(graphs, Dataset):
        if graphs.level != level:
            raise InputError(f"{graphs.name}: has targets for {graphs.level}s, but this estimator is for {level}s")
        return replace(graphs, splits=())
    parts = list(one_by_one(graphs))
    if trained is not None:
        check_attributes(parts, trained)
    collection, columns = graphs_in_memory(parts, () if trained is None else trained.columns)
    if not len(collection):
        raise InputError("graphs: there are none; give at least one")
    items = len(collection) if level == "graph" else collection.num_nodes
    nothing = np.empty((items, 0), np.float32)
    return Dataset("graphs", collection, nothing, level, "none", inputs=available(collection), columns=columns)


def own_targets(graphs: Any, level: TargetLevel, task: TaskChoice) -> Dataset:
    """Graphs that bring their targets: a data set, or PyG graphs with `y` and, for nodes, masks."""
    if isinstance(graphs, Dataset):
        data = replace(graphs_of(graphs, level), splits=graphs.splits)
    else:
        data = as_dataset(graphs, level=level, task=task)
    if data.task == "none":
        raise InputError(f"y: give one target for each {level}; PyG graphs and data sets may bring them, these do not")
    return data


def own_values(graphs: Any, level: TargetLevel, task: TaskChoice) -> NDArray[Any]:
    """The targets that graphs bring, as users write them: classes by name, None where one is unknown, or numbers."""
    data = own_targets(graphs, level, task)
    if data.task != "classification":
        return data.y
    return np.array([data.true_class(item) for item in range(len(data))], dtype=object)


def _own_split(dataset: Dataset) -> Split | None:
    """The split that came with the data, as masks, a column or files: its test items are not learned from.

    Of several, the user has to choose one. But folds, in which no graph is tested twice (MUTAG has ten), hold nothing
    back: they are for comparing models (`wlhn evaluate`), and one that is to be kept learns from all graphs.
    """
    splits = dataset.splits
    if len(splits) < 2:
        return splits[0] if splits else None
    tested = np.concatenate([split.test for split in splits])
    if dataset.level == "graph" and len(np.unique(tested)) == len(tested):
        return None
    raise InputError(
        f"{dataset.name}: comes with {len(splits)} splits; keep one, as dataclasses.replace(data, "
        "splits=data.splits[:1]) or, of PyG masks, train_mask[:, 0]"
    )


def _positions(nodes: ArrayLike, count: int) -> NDArray[Any]:
    """The positions of nodes that are given by position or by a mask."""
    given = np.asarray(nodes)
    if given.dtype == bool and given.shape == (count,):
        return np.flatnonzero(given)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise InputError(
            f"nodes: must be positions or a mask of {count} values, found {given.dtype} of shape {given.shape}"
        )
    outside = given[(given < -count) | (given >= count)]
    if len(outside):
        raise InputError(f"nodes: there is no node {outside[0]}; they go from 0 to {count - 1}")
    return np.arange(count)[given.astype(np.int64)]


def _hold_out(y: NDArray[Any], items: NDArray[Any], share: float, seed: int) -> Split:
    """A share of the items validates, stratified by class; the rest is learned from."""
    if not 0 < share < 1:
        raise InputError(f"validation_share: must be between 0 and 1, found {share}")
    if len(items) < 2:
        raise InputError(
            f"fit: needs at least 2 items with a target, one to learn from and one to validate, found {len(items)}"
        )
    fold = stratified_folds(y[items], folds=min(max(2, round(1 / share)), len(items)), seed=seed)[0]
    rest = np.setdiff1d(np.arange(len(items)), fold.test)
    return Split(train=items[rest], valid=items[fold.test], test=[])
