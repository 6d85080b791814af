"""Weights of classes: what they add up to, and that a machine takes a weight for so many copies of an item."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from baseline_graphs import build, sample
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.class_weight import compute_class_weight

from wlhn.data.class_weights import weights_of_classes, weights_of_items
from wlhn.errors import InputError
from wlhn.models.machines.morgan_forest import MorganForest
from wlhn.nn.machine import MachineOptions

COUNT = np.array([36, 4, 0, 9])


def test_balanced_classes_weigh_alike_and_root_is_half_way_to_that() -> None:
    there = COUNT > 0
    y = np.repeat(np.arange(4), COUNT)
    balanced, root = weights_of_classes(COUNT, "balanced"), weights_of_classes(COUNT, "root")
    np.testing.assert_allclose(balanced[there], compute_class_weight("balanced", classes=np.unique(y), y=y))
    np.testing.assert_allclose((root[there] / root[0]) ** 2, balanced[there] / balanced[0])
    for kind in ("none", "root", "balanced"):
        weights = weights_of_classes(COUNT, kind)
        assert (weights * COUNT).sum() / COUNT.sum() == pytest.approx(1)
        assert weights[2] == 1  # nobody is of that class
        items = weights_of_items(y * 7, "classification", kind)
        np.testing.assert_allclose(np.ones(len(y)) if items is None else items, weights[y])


@pytest.mark.parametrize("task", ["classification", "binary"])
@pytest.mark.parametrize("name", ["wl-svm", "wl-oa", "wl-wasserstein", "wl-linear"])
def test_a_machine_takes_a_weight_for_so_many_copies(name: str, task: str) -> None:
    """With n items of one class and 4 n of the other, root weights are as 2 to 1: as if the rare ones were there twice,
    at a penalty that is the weight of a common one."""
    graphs = sample(count=15).graphs
    graphs = replace(graphs, x=np.zeros_like(graphs.x))  # so that they have colours in common
    y = np.repeat([1, 0], [3, 12])
    penalty = 100.0 if name == "wl-svm" else 0.3  # where some errors are worth it
    twice = np.concatenate([np.arange(15), np.arange(3)])

    def answers(chosen: np.ndarray, **options: object) -> torch.Tensor:
        given = type(sample())(graphs.select(chosen)).inputs()
        targets = torch.from_numpy(y[chosen])
        model = build(name, "graph", rounds=1, **options)
        targets = targets if task == "classification" else targets[:, None].repeat(1, 3).float()
        model.fit(*given.values(), y=targets, task=task)
        return model(**type(sample())(graphs).inputs())

    weighted = answers(np.arange(15), svm_penalty=penalty, class_weights="root")
    copied = answers(twice, svm_penalty=penalty * float(weights_of_classes(np.array([12, 3]), "root")[0]))
    np.testing.assert_allclose(weighted, copied, atol=2e-3)
    assert not np.allclose(weighted, answers(np.arange(15), svm_penalty=penalty), atol=2e-2)


@pytest.mark.parametrize("task", ["classification", "binary"])
@pytest.mark.parametrize("name", ["morgan-forest", "neighbourhood-trees"])
def test_forests_answer_alike_items_by_the_weighted_shares_of_classes(name: str, task: str) -> None:
    level = "graph" if name == "morgan-forest" else "node"
    one = sample(count=1).graphs
    alike = type(sample())(one.select(np.zeros(20, int)))
    x = torch.zeros_like(alike.inputs()["x"])
    given = alike.inputs() | {"x": x}
    if level == "node":
        given |= {"edge_index": torch.empty(2, 0, dtype=torch.long)}
    items = 20 if level == "graph" else len(x)
    y = (torch.arange(items) < items // 5).long()
    share = float(y.float().mean())
    expected = np.log(share / (1 - share))
    for kind, part in (("none", 1.0), ("root", 0.5), ("balanced", 0.0)):
        model = build(name, level, rounds=1, class_weights=kind)
        targets = y if task == "classification" else y[:, None].repeat(1, 3).float()
        model.fit(*given.values(), y=targets, task=task)
        again = build(name, level, rounds=1, class_weights=kind)
        again.load_state_dict(model.state_dict())
        for each in (model, again):
            said = each(**given)
            odds = said[0, 1] - said[0, 0] if task == "classification" else said[0, 0]
            assert float(odds) == pytest.approx(part * expected, abs=0.3)


@pytest.mark.parametrize("name", ["wl-svm", "wl-oa", "wl-linear"])
def test_unknown_targets_have_no_share_in_the_weights(name: str) -> None:
    """One column of targets with gaps is answered as if the graphs without a target were not there."""
    graphs, known = sample(count=15).graphs, np.arange(10)
    y = np.full((15, 1), np.nan, np.float32)
    y[known, 0] = np.arange(10) < 2

    def answers(chosen: np.ndarray) -> torch.Tensor:
        model = build(name, "graph", rounds=1, class_weights="balanced")
        given = type(sample())(graphs.select(chosen)).inputs()
        model.fit(*given.values(), y=torch.from_numpy(y[chosen]).repeat(1, 3), task="binary")
        return model(**type(sample())(graphs).inputs())

    np.testing.assert_allclose(answers(np.arange(15)), answers(known), atol=1e-3)


def test_a_machine_need_not_offer_weights() -> None:
    class Plain(MorganForest):
        Options = MachineOptions

        def classifier(self, seed: int) -> Any:
            return RandomForestClassifier(5, random_state=seed)

    given = sample().inputs()
    model = Plain(given["x"].shape[1], 3)
    model.fit(*given.values(), y=sample().targets("graph"), task="classification")
    assert model(**given).isfinite().all()


@pytest.mark.parametrize("name", ["wl-oa", "wl-linear", "morgan-forest"])
def test_numbers_have_no_classes(name: str) -> None:
    model, given = build(name, "graph", class_weights="root"), sample().inputs()
    with pytest.raises(InputError, match="class_weights root: is for classes and 0/1 targets"):
        model.fit(*given.values(), y=torch.rand(len(sample().graphs), 3), task="regression")
