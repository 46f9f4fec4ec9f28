"""What a model is used for: records -> features -> batches -> predictions -> scores, one file a task."""

from anyformer.tasks.base import Feature, Notes, Prediction, Task, TaskSettings
from anyformer.tasks.batches import collate, make_batches
from anyformer.tasks.find import TASKS, labels_for, labels_of_model, task_for
from anyformer.tasks.predicting import Predicted, Prepared, evaluate, predict, prepare, run_prepared

__all__ = [
    "Feature",
    "Notes",
    "Predicted",
    "Prediction",
    "Prepared",
    "TASKS",
    "Task",
    "TaskSettings",
    "collate",
    "evaluate",
    "labels_for",
    "labels_of_model",
    "make_batches",
    "predict",
    "prepare",
    "run_prepared",
    "task_for",
]
