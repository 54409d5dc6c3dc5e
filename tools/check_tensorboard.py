#!/usr/bin/env python3
"""Opens event files with TensorBoard's own reader, or makes the golden one with its own messages.

usage: tools/check_tensorboard.py RUN            compares RUN/tensorboard with RUN/metrics.jsonl and RUN/samples.jsonl
       tools/check_tensorboard.py --golden FILE  writes tests/golden/events.tfevents

Needs the package tensorboard (made with 2.x). Exits 1 when something differs.

example: tools/check_tensorboard.py build/runs/kjv_bytes
"""
import json
import math
import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter


def golden_events():
    """What tests/io/tensorboard_test.cpp writes."""
    yield event_pb2.Event(wall_time=1700000000.25, file_version="brain.Event:2")
    yield event_pb2.Event(wall_time=1700000001.0, step=1, session_log=event_pb2.SessionLog(
        status=event_pb2.SessionLog.START))
    yield event_pb2.Event(wall_time=1700000001.5, step=1, summary=summary_pb2.Summary(value=[
        summary_pb2.Summary.Value(tag="loss", simple_value=5.5625),
        summary_pb2.Summary.Value(tag="learning_rate", simple_value=9.9e-06),
        summary_pb2.Summary.Value(tag="grad_norm", simple_value=math.inf)]))
    tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=["    And God said\n    «é»".encode()],
                                    tensor_shape=tensor_shape_pb2.TensorShapeProto(
                                        dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=1)]))
    metadata = summary_pb2.SummaryMetadata(data_class=summary_pb2.DATA_CLASS_TENSOR,
                                           plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="text"))
    yield event_pb2.Event(wall_time=1700000002.0, step=300000, summary=summary_pb2.Summary(
        value=[summary_pb2.Summary.Value(tag="sample", tensor=tensor, metadata=metadata)]))


def write_golden(path):
    with open(path, "wb") as file:
        writer = RecordWriter(file)
        for event in golden_events():
            writer.write(event.SerializeToString(deterministic=True))


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def differences(run):
    events = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    metrics = lines_of(run / "metrics.jsonl")
    for tag in events.Tags()["scalars"]:
        found = {event.step: event.value for event in events.Scalars(tag)}
        expected = {line["step"]: line[tag] for line in metrics if line.get(tag) is not None}
        if found.keys() != expected.keys():
            yield f"{tag}: {len(found)} steps, expected {len(expected)}"
        wrong = [s for s in found.keys() & expected.keys() if not math.isclose(found[s], expected[s], rel_tol=1e-6)]
        if wrong:
            yield f"{tag}: step {wrong[0]}: found {found[wrong[0]]}, expected {expected[wrong[0]]}"
        print(f"{tag}: {len(found)} values")
    texts = {}
    for tag in events.Tags()["tensors"]:
        texts = {event.step: event.tensor_proto.string_val[0].decode("utf-8", "replace")
                 for event in events.Tensors(tag)}
        print(f"{tag}: {len(texts)} texts")
    samples = lines_of(run / "samples.jsonl")
    if sorted(texts) != [line["step"] for line in samples]:
        yield f"samples: steps {sorted(texts)}, expected {[line['step'] for line in samples]}"
    if not metrics:
        yield f"{run}/metrics.jsonl: has no lines"


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "--golden":
        write_golden(arguments[1])
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    wrong = list(differences(pathlib.Path(arguments[0])))
    print("\n".join(wrong) if wrong else "TensorBoard reads what metrics.jsonl and samples.jsonl have")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
