# The due times of recurrences by Python's zoneinfo, as a judge that shares no code with
# ours. Reads a JSON list of recurrences with "from" and "to" (seconds since 1970), and
# prints for each the due times after from and up to to.
import calendar, json, sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def shown(at, zone):
    return at.astimezone(zone).replace(tzinfo=None)


def instant(wall, zone):
    first = wall.replace(tzinfo=zone, fold=0).astimezone(timezone.utc)
    if shown(first, zone) == wall:
        return first  # it exists; fold 0 is the first of two
    # It lies in a gap: walk to the first second behind it, from the last that is before.
    before, after = sorted([first, wall.replace(tzinfo=zone, fold=1).astimezone(timezone.utc)])
    before -= timedelta(seconds=1)
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=int((after - before).total_seconds()) // 2)
        if shown(middle, zone) >= wall:
            after = middle
        else:
            before = middle
    return after


def wanted(day, r):
    if r["every"] == "day":
        return True
    if r["every"] == "week":
        return DAYS[day.weekday()] == r["weekday"]
    last = calendar.monthrange(day.year, day.month)[1]
    return day.day == (last if r["dayOfMonth"] == -1 else min(r["dayOfMonth"], last))


def dues(r):
    zone = ZoneInfo(r["timeZone"])
    hour, minute = map(int, r["at"].split(":"))
    begin, end = (datetime.fromtimestamp(r[k], timezone.utc) for k in ("from", "to"))
    found, day = set(), (begin - timedelta(days=3)).date()
    while day <= (end + timedelta(days=3)).date():
        if wanted(day, r):
            at = instant(datetime(day.year, day.month, day.day, hour, minute), zone)
            if begin < at <= end:
                found.add(int(at.timestamp()))
        day += timedelta(days=1)
    return sorted(found)


json.dump([dues(r) for r in json.load(sys.stdin)], sys.stdout)
