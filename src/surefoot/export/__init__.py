"""Models for other programs: files of ONNX, and trees as JSON."""

from surefoot.export.model_dump import dump_model
from surefoot.export.onnx_file import to_onnx

__all__ = ["dump_model", "to_onnx"]
