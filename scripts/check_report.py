"""What check_report.sh needs computed: files out of a PDF and its proof, digests, trees.

Python's standard library and nothing else, and none of Muster's programs: this is the
description of a proof in a second language. Where both should agree, and do not, one is
wrong. See eventstore/digest.go, internal/proof/attest and docs/auditors.md for the layouts.

    check_report.py WORK FILE.pdf KEYS

writes into WORK, where proof.json is, what the steps take, and event.held or event.broken
and inclusion.held or inclusion.broken with a sentence. Exit status 3: not readable.

    check_report.py --lived WORK USE.ID SEEN

prints what the lifetime of a key makes of its signature, as state and sentence. SEEN is
when a clock that is trusted had seen it at the latest, in seconds since 1970, or empty.

    check_report.py --trust WORK trust.json

writes keys.json and, where the trust file asks for them, tsa.pem and witnesses (how many of
them) into WORK.

    check_report.py --fingerprint KEYS

prints the fingerprint of a document of keys, as reports and mails print it.

    check_report.py --rewritten FILE.pdf

prints by what the file is one that another program took apart and wrote again, if it is.
"""

import base64
import calendar
import datetime
import hashlib
import json
import os
import re
import sys
import time
import uuid

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
POSTGRES_EPOCH = 946_684_800_000_000  # 2000-01-01 in microseconds since 1970
MINUTE = 60_000_000
SKEW = 24 * 60 * MINUTE  # times of one report that are further apart are not true
EARLY = 10 * MINUTE  # a key may sign before it is published


class Unusable(Exception):
    """A file that cannot be read as what it should be: exit status 3."""


class Broken(Exception):
    """A claim that does not hold: exit status 1."""


def micros(text):
    """Microseconds since 1970 of a time in RFC 3339. Python 3.9 reads no Z."""
    whole, fraction = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?Z", text).groups()
    at = datetime.datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return round((at - EPOCH).total_seconds()) * 1_000_000 + int((fraction or "").ljust(6, "0"))


def told(at):
    """A time as people read it."""
    return (EPOCH + datetime.timedelta(microseconds=at)).strftime("%Y-%m-%d %H:%M:%SZ")


def became(key):
    """What became of a key; empty: it signs."""
    if key.get("revokedAt"):
        return f"revoked as of {told(micros(key['revokedAt']))}" + (f": {key['reason']}" if key.get("reason") else "")
    return f"retired on {told(micros(key['validTo']))}" if key["validTo"] else ""


def lived(key, at, slack, seen):
    """What a key's lifetime makes of a signature over what is of a time: attest/lifetime.go."""
    ends = [micros(key[name]) for name in ("validTo", "revokedAt") if key.get(name)]
    begin = micros(key["validFrom"])
    if at < begin - max(EARLY, slack):
        return "broken", f"The signed content is dated {told(at)}, but key {key['id']} did not exist before {told(begin)}."
    if key["validTo"] and at > micros(key["validTo"]) + slack:
        return "broken", f"The signed content is dated {told(at)}, but key {key['id']} was {became({**key, 'revokedAt': None})}."
    if not ends or seen is not None and seen <= min(ends):
        return "held", f" (since {became(key)})" if ends else ""
    shown = "No trusted clock shows that it signed this before then" if seen is None else f"The first trusted clock that shows this signature says {told(seen)}"
    return "untold", f"Key {key['id']} was {became(key)}. {shown}."


def number(n):
    return n.to_bytes(8, "big", signed=True)


def counted(content):
    return number(len(content)) + content


def digest(e):
    """The digest of an event: eventstore/digest.go."""
    return hashlib.sha256(
        b"muster event 1"
        + counted(e["log"].encode())
        + uuid.UUID(e["organizationId"]).bytes
        + counted(e["streamType"].encode())
        + uuid.UUID(e["streamId"]).bytes
        + counted(e["type"].encode())
        + number(e["schemaVersion"])
        + number(micros(e["occurredAt"]))
        + counted(e["data"].encode())
        + counted(e["metadata"].encode())
    ).digest()


def event(proof):
    """Holds the event against itself and the report that the proof claims."""
    e, report = proof["event"], proof["report"]
    says = json.loads(e["data"])
    if e["type"] != "report.ready":
        raise Broken("The event does not say that a report is ready.")
    if (e["streamId"], e["organizationId"]) != (report["id"], report["organizationId"]):
        raise Broken("The event is about another report.")
    if (says.get("pdfSha256"), says.get("inputsSha256")) != (report["pdfSha256"], report["inputsSha256"]):
        raise Broken("The event names another PDF or other inputs.")
    link = bytes.fromhex(e["previousHash"]) + digest(e) + number(micros(e["recordedAt"]) - POSTGRES_EPOCH)
    if hashlib.sha256(link).hexdigest() != e["hash"]:
        raise Broken("The event's hash does not match its content and the time of its record.")
    recorded, occurred, now = micros(e["recordedAt"]), micros(e["occurredAt"]), int(time.time()) * 1_000_000
    if abs(recorded - occurred) > SKEW:
        raise Broken(f"The event says that it was recorded on {told(recorded)} and happened on {told(occurred)}: one of the two is wrong.")
    if recorded - now > SKEW:
        raise Broken(f"The event says that it was recorded on {told(recorded)}, which is in the future: it is now {told(now)}.")
    return f"Event {e['log']}:{e['position']}, recorded {e['recordedAt']}, names this PDF and its inputs."


def inclusion(proof):
    """RFC 9162, 2.1.3.2: the root that follows from the leaf and the proof."""
    e = proof["event"]
    _, size, root = checkpoint(proof)
    index = e["position"] - 1
    if not 0 <= index < size:
        raise Broken(f"The log's tree has {size} events, and the event is number {index + 1}.")
    leaf = digest(e) + number(micros(e["recordedAt"]))
    node, at, last = hashlib.sha256(b"\x00" + leaf).digest(), index, size - 1
    for sibling in map(base64.b64decode, proof["inclusion"] or []):
        if last == 0:
            raise Broken("The inclusion proof is too long.")
        if at & 1 or at == last:
            node = hashlib.sha256(b"\x01" + sibling + node).digest()
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            node = hashlib.sha256(b"\x01" + node + sibling).digest()
        at, last = at >> 1, last >> 1
    if last != 0 or node != root:
        raise Broken(f"The event is not in the log's tree of {size} events.")
    return f"The event is number {index + 1} in the log's tree of {size} events."


def checkpoint(proof):
    """The note's text, and the size and root that it says."""
    text = proof["checkpoint"].partition("\n\n")[0] + "\n"
    lines = text.split("\n")
    return text, int(lines[1]), base64.b64decode(lines[2])


def statement(proof):
    r, e = proof["report"], proof["event"]
    return (
        f"muster-report-1\nreport {r['id']}\nkind {r['kind']}\norganization {r['organizationId']}\nscope {r['scopeSha256']}\n"
        f"pdf {r['pdfSha256']}\ninputs {r['inputsSha256']}\nhead {e['log']}:{e['position']}:{e['hash']}\n"
    ).encode()


def base_of(pdf):
    """The file before its last update: a PDF that was updated says where the table before is."""
    tail = re.search(rb"trailer\n<<\n[^>]*?/Prev (\d+)\n>>\nstartxref\n\d+\n%%EOF\n\Z", pdf[-300:])
    if not tail:
        return pdf
    end = b"startxref\n" + tail[1] + b"\n%%EOF\n"
    at = pdf.find(end, int(tail[1]))
    return pdf[: at + len(end)] if at >= 0 else pdf


TRAILER = rb"trailer\n<<\n/Size [1-9]\d*\n/Root [1-9]\d* 0 R\n/Info [1-9]\d* 0 R\n>>\nstartxref\n[1-9]\d*\n%%EOF\n\Z"
PRINTED = rb" witness:[a-z]+:\d+:[0-9a-f]{64}</pdf:Keywords>"


def rewritten(pdf):
    """By what a file is one of Muster's that another program wrote again; empty: by nothing."""
    printed = re.search(PRINTED, pdf)
    signed = b"/ETSI.CAdES.detached" in pdf and b"/EmbeddedFile" in pdf and re.search(rb"/Subtype\s*/application#2[Ff]json", pdf)
    before = pdf[:1024].find(b"%PDF-")
    if before > 0 and (printed or signed or b"(proof.json)" in pdf):
        return f"{before} bytes precede the PDF"
    if before < 0 or b"\n%%EOF\n%muster-signed-1\n" in pdf:
        return ""
    if signed or b"(proof.json)" in pdf:
        return "it has Muster's proof or signature outside the update that Muster writes"
    if printed and not re.search(TRAILER, pdf[-200:]):
        return "it has the log's head that a report prints, but does not end as Muster writes a report"
    return ""


def der(content, at):
    """Tag, content and end of the DER value at an offset."""
    tag, length, start = content[at], content[at + 1], at + 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(content[at + 2 : start], "big")
    return tag, content[start : start + length], start + length


def values(content):
    at = 0
    while at < len(content):
        begin, (tag, inner, at) = at, der(content, at)
        yield tag, inner, content[begin:at]


TIME_STAMP = bytes.fromhex("060b2a864886f70d010910020e")


def signature_of(cms):
    """The value of a CMS's one signature, and its time stamp or None."""
    (_, inner, _), = values(cms)
    signed = list(values(list(values(inner))[1][1]))[0][1]
    (_, signer, _), = values(list(values(signed))[-1][1])
    parts = list(values(signer))
    value = [inner for tag, inner, _ in parts if tag == 0x04][0]
    for tag, attributes, _ in parts:
        if tag != 0xA1:
            continue
        for _, attribute, _ in values(attributes):
            (_, _, kind), (_, token, _) = values(attribute)
            if kind == TIME_STAMP:
                return value, token
    return value, None


def unpack(work, pdf_path, keys_path):
    def write(name, content):
        with open(os.path.join(work, name), "wb") as f:
            f.write(content)

    with open(pdf_path, "rb") as f:
        pdf = f.read()
    proof = load(work)
    with open(keys_path, encoding="utf-8") as f:
        keys = json.load(f, object_pairs_hook=once)["keys"]

    base = base_of(pdf)
    write("base.sha256", hashlib.sha256(base).hexdigest().encode())
    write("claimed.sha256", proof["report"]["pdfSha256"].encode())
    says = json.loads(proof["event"]["data"])
    beside = {says.get("inputsSha256"): "inputs.json"} | {f["sha256"]: f["name"] for f in says.get("files") or []}
    if (name := beside.get(hashlib.sha256(pdf).hexdigest())) is not None:
        write("companion", name.encode())
    write("statement.txt", statement(proof))
    write("attestation.sig", base64.b64decode(proof["attestation"]["signature"]))
    write("attestation.key", proof["attestation"]["keyId"].encode())
    text, _, _ = checkpoint(proof)
    write("checkpoint.txt", text.encode())
    origin = text.split("\n")[0]
    if origin != proof["origin"] or not origin.endswith("/" + proof["event"]["log"]):
        write("checkpoint.other", origin.encode())

    # Each signature line of the note is "— name base64(key hash, signature)".
    lines = re.findall(r"^— (\S+) (\S+)$", proof["checkpoint"].partition("\n\n")[2], re.M)
    recorded, signed, lives = micros(proof["event"]["recordedAt"]), None, {}
    write("recorded", str(recorded // 1_000_000).encode())
    for key in keys:
        if not re.fullmatch(r"[0-9A-Za-z-]+", key["id"]):  # it becomes the name of a file
            raise Unusable("a key has no id")
        lives[f"{key['use']}.{key['id']}"] = key
        spki = base64.b64decode(key["publicKey"])
        if key["use"] == "report":
            write(f"report.{key['id']}.der", spki)
        elif key["use"] == "pdf":
            write(f"pdf.{key['id']}.pem", key["certificate"].encode())
        elif key["use"] == "log" and key["verifierKey"].split("+")[0] == origin:
            name, key_hash, _ = key["verifierKey"].split("+", 2)
            for signer, line in lines:
                line = base64.b64decode(line)
                if (signer, line[:4].hex()) == (name, key_hash):
                    write(f"log.{key['id']}.der", spki)
                    write(f"log.{key['id']}.sig", line[4:])

    stamps = {"attestation": (proof["attestation"]["timestamp"], base64.b64decode(proof["attestation"]["signature"])),
              "checkpoint": (proof["checkpointTimestamp"], text.encode())}
    for name, (token, over) in stamps.items():
        if token:
            write(f"stamp.{name}.der", base64.b64decode(token))
            write(f"stamp.{name}.digest", hashlib.sha256(over).hexdigest().encode())

    ranges = re.search(rb"/ByteRange \[0 (\d+) (\d+) (\d+)\]", pdf[len(base) :])
    if ranges:
        before, after, rest = map(int, ranges.groups())
        write("covered.bin", pdf[:before] + pdf[after : after + rest])
        if after + rest != len(pdf) or not re.fullmatch(rb"<[0-9a-f]+>", pdf[before:after]):
            write("covered.not", b"")
        try:
            cms = bytes.fromhex(pdf[before + 1 : after - 1].decode())
            cms = cms[: der(cms, 0)[2]]
            value, token = signature_of(cms)
        except (ValueError, IndexError):  # pdfsig says what it thinks of it
            cms, token = b"", None
        write("signature.der", cms)
        at = re.search(rb"/Type /Sig .*?/M \(D:(\d{14})Z\)", pdf[len(base) :])
        at = datetime.datetime.strptime(at[1].decode(), "%Y%m%d%H%M%S")
        signed = calendar.timegm(at.timetuple())
        write("signature.at", str(signed).encode())
        signed *= 1_000_000
        if abs(signed - recorded) > SKEW:
            write("signature.apart", f"The report says that it was recorded on {told(recorded)}, but the PDF's signature gives the time {told(signed)}: one of the two is wrong.".encode())
        if token:
            write("stamp.signature.der", token)
            write("stamp.signature.digest", hashlib.sha256(value).hexdigest().encode())
            if attested_in(pdf[len(base) :], proof):
                write("signature.attests", b"")
    write("lives.json", json.dumps({"keys": lives, "recorded": recorded, "signed": signed}).encode())


def attested_in(update, proof):
    """Whether the update carries the very attestation, so that a stamp of the signature is one of it."""
    return f'"signature":"{proof["attestation"]["signature"]}"'.encode() in update


def life(work, name, seen):
    """The state of a key's signature, and a sentence."""
    with open(os.path.join(work, "lives.json"), encoding="utf-8") as f:
        lives = json.load(f)
    pdf = name.startswith("pdf.")  # its time is a process's, and may be off
    state, said = lived(lives["keys"][name], lives["signed"] if pdf else lives["recorded"], SKEW if pdf else 0, int(seen) * 1_000_000 if seen else None)
    print(state, said)


def once(pairs):
    """An object in which no name is there twice: parsers do not agree which of two counts."""
    if len({name.upper().lower() for name, _ in pairs}) != len(pairs):
        raise Unusable("a name is there twice")
    return dict(pairs)


def load(work):
    with open(os.path.join(work, "proof.json"), encoding="utf-8") as f:
        proof = json.load(f, object_pairs_hook=once)
    if proof["format"] != "muster-proof-1":
        raise Unusable("the format is not muster-proof-1")
    beside = os.path.exists(os.path.join(work, "beside"))  # else its bytes are signed with the PDF
    if beside and proof["event"].get("version") and "mark" in json.loads(proof["event"]["data"]):
        raise Unusable("event.version: no signature covers it")
    return proof


def trusted(work, path):
    """Takes a trust file apart. One of a later version may demand what this does not know."""
    with open(path, encoding="utf-8") as f:
        trust = json.load(f, object_pairs_hook=once)
    if trust.get("format") != "muster-trust-1":
        raise Unusable("it is no trust file of this layout")
    if unknown := set(trust) - {"format", "keys", "tsaCertificates", "witnesses", "witnessesNeeded"}:
        raise Unusable(f"it has members of a later version: {', '.join(sorted(unknown))}")
    needed, of = trust.get("witnessesNeeded") or 0, len(trust.get("witnesses") or [])
    if not trust.get("keys") or not (0 < needed <= of or needed == of == 0):
        raise Unusable("it has no keys, or more witnesses are needed than there are, or none of them")
    for name, content in (("keys.json", json.dumps({"keys": trust["keys"]})), ("tsa.pem", trust.get("tsaCertificates") or ""), ("witnesses", str(needed or ""))):
        with open(os.path.join(work, name), "w", encoding="utf-8") as f:
            f.write(content)


def fingerprint(path):
    """SHA-256 over a line a key, in ascending order."""
    with open(path, encoding="utf-8") as f:
        keys = json.load(f, object_pairs_hook=once)["keys"]
    lines = []
    for key in keys:
        public = hashlib.sha256(base64.b64decode(key["publicKey"])).hexdigest()
        dates = [key.get(name) or "-" for name in ("validFrom", "validTo", "revokedAt")]
        lines.append(" ".join(["key", key["use"], key["id"], public, *dates, key.get("reason", "")]) + "\n")
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def main(work, pdf, keys):
    unpack(work, pdf, keys)
    for name, step in (("event", event), ("inclusion", inclusion)):
        try:
            state, said = "held", step(load(work))
        except Broken as e:
            state, said = "broken", str(e)
        with open(os.path.join(work, f"{name}.{state}"), "w", encoding="utf-8") as f:
            f.write(said)


if __name__ == "__main__":
    try:
        if sys.argv[1] == "--lived":
            life(*sys.argv[2:])
        elif sys.argv[1] == "--trust":
            trusted(*sys.argv[2:])
        elif sys.argv[1] == "--fingerprint":
            print(fingerprint(sys.argv[2]))
        elif sys.argv[1] == "--rewritten":
            with open(sys.argv[2], "rb") as f:
                print(rewritten(f.read()))
        else:
            main(*sys.argv[1:])
    except Exception as e:  # whatever a hostile file does to a parser
        print(f"{type(e).__name__}: {e}")
        sys.exit(3)
