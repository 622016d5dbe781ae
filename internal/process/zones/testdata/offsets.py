"""Compares offsets with those that Python reads from compiled zones; prints what differs."""
import datetime
import json
import sys
import zoneinfo

begin = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
step = datetime.timedelta(days=11)
for name, offsets in json.load(sys.stdin).items():
    with open(f"{sys.argv[1]}/{name}", "rb") as file:
        zone = zoneinfo.ZoneInfo.from_file(file)
    for n, offset in enumerate(offsets):
        at = begin + n * step
        here = at.astimezone(zone).utcoffset().total_seconds()
        if here != offset:
            print(f"{name} at {at}: {offset}, Python has {here}")
            break
