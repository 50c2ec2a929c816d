# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints a trace as Babeltrace 2 reads it, as JSON lines; for check_exchange.py.

	python3 read_bt2.py TRACE [PLUGIN_FOLDER]
"""
import json
import sys

import bt2


def value_of(field):
    if isinstance(field, (bt2._StringFieldConst,)):
        # Babeltrace 2.0.4 leaves the text of the previous event in an empty one; its length is
        # right.
        return str(field) if len(field) else ""
    if isinstance(field, bt2._RealFieldConst):
        return float(field)
    if isinstance(field, bt2._ArrayFieldConst):
        return [value_of(element) for element in field]
    return int(field)


def bytes_of(field):
    return bytes(int(element) for element in field).hex()


def main():
    if len(sys.argv) > 2:
        bt2.find_plugins_in_path(sys.argv[2])
    for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
        if type(message) is bt2._DiscardedEventsMessageConst:
            print(json.dumps({"lost": message.count}))
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        context = event.specific_context_field or event.common_context_field
        entry = {
            "event": event.cls.name, "ns": message.default_clock_snapshot.ns_from_origin,
            "level": event.cls.log_level,
            "pid": int(context["pid"]), "tid": int(context["tid"]),
            "thread": int(context["thread"]), "address": int(context["address"]),
            "truncated": bool(context["truncated"]), "late": bool(context["late"]),
        }
        payload = event.payload_field
        if "data_length" in payload or "data" in payload and len(payload) == 1:
            entry["data"] = bytes_of(payload["data"])
        else:
            entry["fields"] = {}
            for name in payload:
                if name.startswith("_") and name.endswith("_length"):
                    continue
                field = payload[name]
                is_bytes = isinstance(field, bt2._DynamicArrayFieldConst)
                entry["fields"][name] = bytes_of(field) if is_bytes else value_of(field)
        print(json.dumps(entry))


if __name__ == "__main__":
    main()
