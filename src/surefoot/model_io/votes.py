"""The boosters of question 1: AdaBoost, its ensembles, and BestBoost."""

from typing import Any, NamedTuple

import numpy as np

from surefoot.boosting import AdaBoostClassifier, BestBoostClassifier
from surefoot.boosting.base import BaseBooster
from surefoot.boosting.best_boost import BOOSTERS
from surefoot.boosting.committee import TreeCommittee
from surefoot.boosting.vote_link import VoteLink
from surefoot.model_io.columns import COLUMNS, FittedColumns
from surefoot.model_io.fields import Array, Many, Maybe, Record, Scalar
from surefoot.model_io.labels import Classes
from surefoot.model_io.model_json import require
from surefoot.trees import VotingForest

LARGEST = float(np.finfo(np.float64).max)
MAX_DEPTH = 16  # no tree is as deep
SET_WORDS = 4
MAX_VOTE = 10_000  # twice the log of the odds of the smallest error, and that of the number of classes, are below it


class Score(NamedTuple):
    """A booster's accuracy and log-loss on held-out rows; old files have no log-loss."""

    name: str
    score: float
    log_loss: float | None


class DepthScore(NamedTuple):
    """The log-loss of a depth on held-out rows."""

    depth: int
    log_loss: float


class Best(NamedTuple):
    """The chosen booster, the scores of all boosters, and those of depths; old files have no depths."""

    name: str
    scores: list[Score]
    depth: int | None
    depth_scores: list[DepthScore] | None

    def set_on(self, model: BestBoostClassifier, n_leaves: int) -> None:
        """Set the attributes of the model; the depth of old files is that of the trees."""
        model.best_name_, model.best_depth_ = self.name, self.depth or n_leaves.bit_length() - 1
        model.scores_ = {one.name: one.score for one in self.scores}
        model.log_losses_ = {one.name: one.log_loss for one in self.scores if one.log_loss is not None}
        model.depth_log_losses_ = {one.depth: one.log_loss for one in self.depth_scores or []}

    @classmethod
    def of(cls, model: BestBoostClassifier) -> "Best":
        scores = [Score(name, score, model.log_losses_.get(name)) for name, score in model.scores_.items()]
        depths = [DepthScore(*one) for one in model.depth_log_losses_.items()]
        return cls(model.best_name_, scores, model.best_depth_, depths)


def _make_forest(**fields: np.ndarray) -> VotingForest:
    n_trees, n_leaves = fields["labels"].shape
    depth = n_leaves.bit_length() - 1
    require(n_trees >= 1 and 1 <= depth <= MAX_DEPTH, f"trees cannot have leaves of shape {n_trees, n_leaves}")
    require(n_leaves == 1 << depth, "leaves are not those of perfect trees")
    nodes = n_trees, n_leaves - 1
    require(fields["sets"].shape == (*nodes, SET_WORDS), "sets of categories and nodes differ in number")
    others = ("features", "thresholds", "missing_right", "gains")
    require(all(fields[name].shape == nodes for name in others), "nodes are not those of perfect trees")
    require(fields["features"].min() >= -1, "there are splits on columns that do not exist")
    return VotingForest(**fields)


def _make_committee(
    forest: VotingForest, vote_weights: np.ndarray, errors: np.ndarray, n_classes: int
) -> TreeCommittee:
    require(vote_weights.shape == errors.shape == (len(forest.labels),), "votes and trees differ in number")
    is_valid = (vote_weights > 0).all() and (vote_weights <= MAX_VOTE).all()
    require(is_valid, f"a vote weight is not between 0 and {MAX_VOTE}")
    require(forest.labels.min() >= 0 and forest.labels.max() < n_classes, "there are labels of unknown classes")
    return TreeCommittee(forest, vote_weights, errors, n_classes)


def _make_best(name: str, scores: list[Score], depth: int | None, depth_scores: list[DepthScore] | None) -> Best:
    names = {score.name for score in scores}
    require(name in names and names <= BOOSTERS.keys(), "the best booster is not one of the candidates")
    return Best(name, scores, depth, depth_scores)


def _make_link(scale: float, offsets: np.ndarray) -> VoteLink:
    require(len(offsets) >= 2, "a link must have an offset for each class")
    require(scale + 2.0 * np.abs(offsets).max() <= LARGEST / 2.0, "scale and offsets of a link are too large")
    return VoteLink(scale, offsets)


def _take(model: BaseBooster) -> dict[str, Any]:
    best, voting = None, model
    if isinstance(model, BestBoostClassifier):
        best = Best.of(model)
        voting = model.best_estimator_
    voters = [voting] if isinstance(voting, AdaBoostClassifier) else voting.estimators_
    committees = [voter._committee for voter in voters]
    is_native = all(isinstance(committee, TreeCommittee) for committee in committees)
    require(is_native, f"its weak learner {model.estimator!r} is not surefoot's own tree: fit it with estimator=None")
    return {
        "columns": FittedColumns.of(model),
        "classes": model.classes_,
        "committees": committees,
        "best": best,
        "link": voting._link,
        "member_link": voters[0]._link,
    }


def _adopt(
    model: BaseBooster,
    columns: FittedColumns,
    classes: np.ndarray,
    committees: list[TreeCommittee],
    best: Best | None,
    link: VoteLink | None,
    member_link: VoteLink | None,
) -> None:
    """Set the fitted state on an unfitted model; models from old files have no links."""
    require((link is None) == (member_link is None), "it has only one of its two links")
    links = [one for one in (link, member_link) if one is not None]
    require(all(len(one.offsets) == len(classes) for one in links), "links and classes differ in number")
    require(all(one.n_classes == len(classes) for one in committees), "votes and classes differ in number")
    _check_splits([committee.forest for committee in committees], columns)
    is_valid = (best is not None) == isinstance(model, BestBoostClassifier)
    require(is_valid, "only a BestBoostClassifier has a best booster, and it must have one")
    voting = model
    if isinstance(model, BestBoostClassifier) and best is not None:
        columns.set_on(model, classes)
        require(committees, "it must have members")
        best.set_on(model, committees[0].forest.labels.shape[1])
        parameters = model._member_parameters() | {"max_depth": model.best_depth_}
        model.best_estimator_ = voting = BOOSTERS[best.name](**parameters)
    _set_votes(voting, columns, classes, committees, member_link)
    voting._link = link


def _set_votes(
    model: Any,
    columns: FittedColumns,
    classes: np.ndarray,
    committees: list[TreeCommittee],
    member_link: VoteLink | None,
) -> None:
    """Set the votes of a booster, as after a fit."""
    columns.set_on(model, classes)
    if isinstance(model, AdaBoostClassifier):
        require(len(committees) == 1, "it must have one vote")
        model._committee, model._link = committees[0], member_link
        return
    require(committees, "it must have members")
    require(model.voting in ("hard", "soft"), "its voting is unknown")
    model.estimators_ = [AdaBoostClassifier(**model._member_parameters()) for _ in committees]
    for member, committee in zip(model.estimators_, committees, strict=True):
        _set_votes(member, columns, classes, [committee], member_link)


def _check_splits(forests: list[VotingForest], columns: FittedColumns) -> None:
    """Refuse splits on missing columns, and splits by category on numeric columns: kernels do not check them."""
    is_numeric = np.ones(columns.n_columns + 1, dtype=np.bool_)
    is_numeric[[*columns.schema.categories, -1]] = False  # the last entry is for -1: no split
    for forest in forests:
        require(forest.features.max() < columns.n_columns, "there are splits on columns that do not exist")
        is_valid = np.isnan(forest.thresholds) != is_numeric[forest.features]
        require(is_valid.all(), "there are splits by category on numeric columns, or the other way round")


FOREST = Record(
    {
        "features": Array(np.int32, 2),
        "thresholds": Array(np.float64, 2),
        "missing_right": Array(np.bool_, 2),
        "sets": Array(np.uint64, 3),
        "gains": Array(np.float64, 2),
        "labels": Array(np.int32, 2),
    },
    make=_make_forest,
)
COMMITTEE = Record(
    {
        "forest": FOREST,
        "vote_weights": Array(np.float64, 1, finite=True),
        "errors": Array(np.float64, 1, finite=True),
        "n_classes": Scalar(int, 2),
    },
    make=_make_committee,
)
SCORE = Record(
    {"name": Scalar(str), "score": Scalar(float, 0.0, 1.0), "log_loss": Maybe(Scalar(float, 0.0))},
    make=Score,
    added=("log_loss",),
)
DEPTH_SCORE = Record({"depth": Scalar(int, 1, MAX_DEPTH), "log_loss": Scalar(float, 0.0)}, make=DepthScore)
BEST = Record(
    {
        "name": Scalar(str),
        "scores": Many(SCORE),
        "depth": Maybe(Scalar(int, 1, MAX_DEPTH)),
        "depth_scores": Maybe(Many(DEPTH_SCORE)),
    },
    make=_make_best,
    added=("depth", "depth_scores"),
)
LINK = Record({"scale": Scalar(float, 0.0), "offsets": Array(np.float64, 1, finite=True)}, make=_make_link)
VOTES = Record(
    {
        "columns": COLUMNS,
        "classes": Classes(),
        "committees": Many(COMMITTEE),
        "best": Maybe(BEST),
        "link": Maybe(LINK),
        "member_link": Maybe(LINK),
    },
    make=_adopt,
    take=_take,
    added=("link", "member_link"),
)
