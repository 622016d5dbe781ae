#!/usr/bin/env python3
"""Verifies what Muster signed, without any of Muster's programs.

    verify_report.py --keys muster-keys.json [--proof proof.json] FILE
    verify_report.py --trust trust.json [--proof proof.json] FILE

FILE is a report's PDF, a table or inputs.json that goes with it (with --proof), an export of a
log, or signed evidence. Written from the layouts in docs/auditors.md alone, with Python's
standard library and the command openssl. Exit status 0: it holds; 1: it does not; 3: nobody
can tell from what was given. Time stamps and witnesses are not judged: where a trust file wants
them, nobody can tell.
"""
import argparse, base64, calendar, datetime, hashlib, json, os, re, subprocess, sys, tempfile, time, uuid

b64 = lambda text: base64.b64decode(text, validate=True)
sha = lambda *parts: hashlib.sha256(b"".join(parts)).digest()
u64 = lambda n: n.to_bytes(8, "big", signed=True)
counted = lambda b: u64(len(b)) + b
DAY, EPOCH_2000 = 86_400_000_000, 946_684_800_000_000


class Broken(Exception): pass
class Untold(Exception): pass


def micros(text):
    whole, fraction = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?Z", text).groups()
    return calendar.timegm(datetime.datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").timetuple()) * 1_000_000 + int((fraction or "").ljust(6, "0"))


def once(pairs):
    if len({name.upper().lower() for name, _ in pairs}) < len(pairs): raise Untold("A name occurs twice.")
    return dict(pairs)


def openssl(*args, **files):
    with tempfile.TemporaryDirectory() as dir:
        for name, content in files.items():
            with open(os.path.join(dir, name), "wb") as f: f.write(content)
        done = subprocess.run(["openssl", *args], cwd=dir, capture_output=True, text=True)
        return done.returncode == 0, done.stderr


def ed25519(spki, text, signature):
    return openssl("pkeyutl", "-verify", "-pubin", "-inkey", "key", "-keyform", "DER", "-rawin", "-in", "text", "-sigfile", "sig", key=spki, text=text, sig=signature)[0]


def lived(key, at, slack=0):
    """Holds a signature to the lifetime of its key."""
    until, ends = key.get("validTo"), [micros(key[n]) for n in ("validTo", "revokedAt") if key.get(n)]
    if at < micros(key["validFrom"]) - max(600_000_000, slack): raise Broken(f"Key {key['id']} did not exist yet.")
    if until and at > micros(until) + slack: raise Broken(f"Key {key['id']} was retired before that.")
    if ends: raise Untold(f"Key {key['id']} has ended, and no clock shows that it signed this before then.")
    return f"Signed by key {key['id']}."


def best(outcomes):
    """The best of several signatures over one text: one that holds, else one that is untold."""
    failed = []
    for outcome in outcomes:
        try: return outcome()
        except (Broken, Untold) as e: failed.append(e)
    raise next((e for e in failed if isinstance(e, Untold)), failed[0])


def digest(log, e):
    raw = lambda name: b64(e[name + "Base64"]) if e.get(name + "Base64") else e.get(name, "").encode()
    return sha(b"muster event 1", counted(log.encode()), uuid.UUID(e["organizationId"]).bytes, counted(e["streamType"].encode()), uuid.UUID(e["streamId"]).bytes,
               counted(e["type"].encode()), u64(e["schemaVersion"]), u64(micros(e["occurredAt"])), counted(raw("data")), counted(raw("metadata")))


def link(previous, of, recorded): return sha(previous, of, u64(recorded - EPOCH_2000))


class Proof:
    def __init__(self, text, keys, now):
        self.p, self.keys, self.now = json.loads(text, object_pairs_hook=once), keys, now
        self.e, self.r = self.p["event"], self.p["report"]
        self.at, self.says = micros(self.e["recordedAt"]), json.loads(self.e["data"], object_pairs_hook=once)
        if self.p["format"] != "muster-proof-1" or self.e.get("version") and "mark" in self.says: raise Untold("No proof.json of this layout.")
        self.text = self.p["checkpoint"].partition("\n\n")[0] + "\n"
        origin, size, root = self.text.split("\n")[:3]
        self.origin, self.size, self.root, self.path = origin, int(size), b64(root), [b64(h) for h in self.p["inclusion"] or []]

    def file(self, content):
        names = {self.r["pdfSha256"]: "the report", self.r["inputsSha256"]: "inputs.json"} | {f["sha256"]: f["name"] for f in self.says.get("files") or []}
        if (name := names.get(sha(content).hex())) is None: raise Broken("The file is not the one that the proof names, or it was changed.")
        return f"The file is {name}, as it was built."

    def event(self):
        e, r = self.e, self.r
        if (e["type"], e["streamId"], e["organizationId"]) != ("report.ready", r["id"], r["organizationId"]): raise Broken("The event is about another report.")
        if any(self.says.get(n) != r[n] for n in ("pdfSha256", "inputsSha256")): raise Broken("The event names another PDF or other inputs.")
        if link(bytes.fromhex(e["previousHash"]), digest(e["log"], e), self.at).hex() != e["hash"]: raise Broken("The event's hash does not match its content.")
        if abs(self.at - micros(e["occurredAt"])) > DAY or self.now and self.at > self.now + DAY: raise Broken("The event's times cannot be true.")
        return f"Event {e['log']}:{e['position']}, recorded {e['recordedAt']}."

    def inclusion(self):
        at, last, node = self.e["position"] - 1, self.size - 1, sha(b"\0", digest(self.e["log"], self.e), u64(self.at))
        if not 0 <= at <= last: raise Broken("The event's position is not in the tree.")
        for sibling in self.path:  # RFC 9162, 2.1.3.2
            if last == 0: raise Broken("The inclusion proof is too long.")
            if at & 1 or at == last:
                node = sha(b"\1", sibling, node)
                while at and not at & 1: at, last = at >> 1, last >> 1
            else: node = sha(b"\1", node, sibling)
            at, last = at >> 1, last >> 1
        if last or node != self.root: raise Broken("The event is not in the log's tree.")
        return f"It is in the log's tree of {self.size} events."

    def checkpoint(self):
        lines, good = re.findall(r"^— (\S+) (\S+)$", self.p["checkpoint"].partition("\n\n")[2], re.M), []
        if self.origin != self.p["origin"] or not self.origin.endswith("/" + self.e["log"]) or not lines: raise Broken("The checkpoint does not belong to the event's log.")
        for key in (k for k in self.keys if k["use"] == "log"):
            name, key_hash, _ = key["verifierKey"].split("+", 2)
            for signer, line in ((s, b64(l)) for s, l in lines if s == name == self.origin):
                if line[:4].hex() != key_hash: continue
                if not ed25519(b64(key["publicKey"]), self.text.encode(), line[4:]): raise Broken("The tree was changed after it was signed.")
                good.append(lambda key=key: lived(key, self.at))
        if not good: raise Untold("None of the keys signed the log's tree.")
        return best(good)

    def attestation(self):
        e, r, a = self.e, self.r, self.p["attestation"]
        statement = (f"muster-report-1\nreport {r['id']}\nkind {r['kind']}\norganization {r['organizationId']}\nscope {r['scopeSha256']}\n"
                     f"pdf {r['pdfSha256']}\ninputs {r['inputsSha256']}\nhead {e['log']}:{e['position']}:{e['hash']}\n").encode()
        keys = [k for k in self.keys if k["use"] == "report"]
        for key in keys:
            if ed25519(b64(key["publicKey"]), statement, b64(a["signature"])): return lived(key, self.at)
        raise Broken("The key signed a different statement about the report.") if a["keyId"] in [k["id"] for k in keys] else Untold(f"Key {a['keyId']} is not among the given keys.")


MARK, TRAILER = b"\n%%EOF\n%muster-signed-1\n", rb"trailer\n<<\n/Size \d+\n/Root \d+ 0 R\n/Info \d+ 0 R\n>>\nstartxref\n\d+\n%%EOF\n\Z"


def apart(file):
    """The first revision of a PDF, its proof and its signature step; None where it has none."""
    printed = re.search(rb" witness:[a-z]+:\d+:[0-9a-f]{64}</pdf:Keywords>", file)
    signed = b"(proof.json)" in file or b"/ETSI.CAdES.detached" in file and re.search(rb"/Subtype\s*/application#2[Ff]json", file)
    begins = file.startswith(b"%PDF-")
    if not begins and b"%PDF-" in file[:1024] and (printed or signed) or begins and MARK not in file and (signed or printed and not re.search(TRAILER, file)):
        raise Broken("Another program wrote the PDF again.")
    if not begins or MARK not in file: return file, None, None
    end = file.index(MARK) + 7
    update = file[end:]
    size = re.search(rb"/Params <</Size (\d+) .*?stream\n", update, re.S)
    found = re.search(rb"/M \(D:(\d{14})Z\).*?/ByteRange \[0 (\d+) (\d+) (\d+)\] *\n/Contents <([0-9a-f]+)>", update, re.S)
    if not size or not found: raise Broken("The signed update is not as Muster writes it.")
    return file[:end], update[size.end() : size.end() + int(size[1])], (file, *found.groups())


def signature(keys, recorded, file, at, a, b, c, contents):
    a, b, c = int(a), int(b), int(c)
    seconds, cms = calendar.timegm(time.strptime(at.decode(), "%Y%m%d%H%M%S")), bytes.fromhex(contents.decode())
    length = 4 + int.from_bytes(cms[2:4], "big")  # DER of more than 255 bytes
    if b + c != len(file) or file[a : a + 1] != b"<" or file[b - 1 : b] != b">" or b - a != len(contents) + 2 or any(cms[length:]):
        raise Broken("The signature does not cover the whole file.")
    if recorded and abs(seconds * 1_000_000 - recorded) > DAY: raise Broken("The signature's time and the log's are more than a day apart.")
    failed = False  # two certificates may have one name and number
    for key in (k for k in keys if k["use"] == "pdf"):
        good, said = openssl("cms", "-verify", "-cades", "-binary", "-inform", "DER", "-in", "cms", "-content", "content", "-nointern", "-certfile", "cert", "-CAfile", "cert",
                             "-partial_chain", "-purpose", "any", "-attime", str(seconds), "-out", "out", cms=cms[:length], content=file[:a] + file[b:], cert=key["certificate"].encode())
        if good: return lived(key, seconds * 1_000_000, DAY)
        failed |= "signer certificate not found" not in said
    raise Broken("The PDF's signature is not valid.") if failed else Untold("None of the given keys signed the PDF.")


def export(file, keys):
    first, _, body = file.partition(b"\n")
    h = json.loads(first, object_pairs_hook=once)
    head, shown, previous, position = h["head"], set(), bytes(32), 0
    if h["format"] != "muster-export-2": raise Untold("Its signature does not cover the whole file.")
    for part in filter(None, h.get("positions", "").split(",")):
        shown.update(range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1))
    if sha(body).hex() != h["body"]: raise Broken("The lines do not match the digest in the first line.")
    for line in (json.loads(l, object_pairs_hook=once) for l in body.splitlines()):
        of, recorded, position, event = bytes.fromhex(line["digest"]), micros(line["recordedAt"]), position + 1, line.get("event")
        previous = link(previous, of, recorded)
        if line["position"] != position or previous.hex() != line["hash"] or (position in shown) != bool(event): raise Broken(f"Position {position} does not fit.")
        if event and digest(head["log"], event) != of: raise Broken(f"Event {position} was changed.")
    if (position, previous.hex()) != (head["position"], head["hash"]): raise Broken("It does not end with the head.")
    text = f"muster-export-2\norganization {h['organizationId'] or '-'}\nhead {head['log']}:{position}:{head['hash']}\nbody {h['body']}\npositions {h.get('positions', '')}\n".encode()
    mine = [k for k in keys if k["use"] == "log" and k["verifierKey"].split("+")[0].endswith("/" + head["log"]) and b64(k["publicKey"])[-32:] == b64(h.get("publicKey", ""))]
    if not mine: raise Untold("None of the given keys signed it.")
    if not ed25519(b64(mine[0]["publicKey"]), text, b64(h["signature"])): raise Broken("The first line was changed after it was signed.")
    if mine[0].get("validTo") or mine[0].get("revokedAt"): raise Untold(f"Key {mine[0]['id']} has ended, and its holder can sign any date.")
    return f"{len(shown)} of {position} events are shown, signed by key {mine[0]['id']}."


def evidence(text, keys, now):
    whole = json.loads(text, object_pairs_hook=once)
    begin = re.search(r'"evidence"\s*:\s*', text).end()
    raw = text[begin : json.JSONDecoder().raw_decode(text, begin)[1]]
    compact = re.sub(r'("(?:[^"\\]|\\.)*")|\s+', lambda m: m[1] or "", raw)
    statement = f"muster-evidence-1\n{hashlib.sha256(compact.encode()).hexdigest()}\n".encode()
    keys = [k for k in keys if k["use"] == "report"]
    for key in keys:
        if not ed25519(b64(key["publicKey"]), statement, b64(whole["signature"])): continue
        at = micros(whole["evidence"]["asOf"])
        if now and at > now + DAY: raise Broken("The evidence is dated in the future.")
        return lived(key, at, DAY)
    raise Broken("The evidence was changed.") if whole["keyId"] in [k["id"] for k in keys] else Untold("None of the given keys signed it.")


def fingerprint(keys):
    line = lambda k: f"key {k['use']} {k['id']} {sha(b64(k['publicKey'])).hex()} {k['validFrom']} {k.get('validTo') or '-'} {k.get('revokedAt') or '-'} {k.get('reason') or ''}\n"
    return sha("".join(sorted(map(line, keys))).encode()).hex()


def trusted(document, trust=False):
    """The keys of a document of keys or a trust file, and steps for what that wants and nobody judges here."""
    t = json.loads(document, object_pairs_hook=once)
    if "format" not in t and not trust: return t["keys"], []
    needed, of = t.get("witnessesNeeded") or 0, len(t.get("witnesses") or [])
    if t.get("format") != "muster-trust-1" or set(t) - {"format", "keys", "tsaCertificates", "witnesses", "witnessesNeeded"} or not t.get("keys") or not (0 < needed <= of or needed == of == 0):
        raise Untold("No trust file of this layout.")
    wanted = [("timestamp", t.get("tsaCertificates")), ("witness", needed)]
    return t["keys"], [(name, "untold", "The trust file requires this check, and this program does not make it.") for name, asked in wanted if asked]


def verify(file, proof, keys, now=None, trust=False):
    """The steps, each with its state and a sentence."""
    try: keys, steps = trusted(keys, trust)
    except Exception as e: return [("keys", "untold", f"They cannot be read: {e!r}")]

    def step(name, run, *args):
        try: steps.append((name, "held", run(*args)))
        except Broken as e: steps.append((name, "broken", str(e)))
        except Untold as e: steps.append((name, "untold", str(e)))
        except Exception as e: steps.append((name, "untold", f"It cannot be read: {e!r}"))  # a hostile file

    if file.startswith(b'{"format":"muster-export-'): return steps.clear() or step("export", export, file, keys) or steps
    if re.match(rb'\s*{\s*"evidence"', file): return step("evidence", evidence, file.decode(), keys, now) or steps
    base, signed, inside = file, None, None
    try: base, inside, signed = apart(file)
    except Broken as e: steps.append(("signature", "broken", str(e)))
    p = None
    try: p = Proof(proof if proof is not None else inside, keys, now) if proof or inside else None
    except Exception as e: steps.append(("file", "untold", f"The proof cannot be read: {e!r}"))
    if p and inside and proof and json.loads(inside).get("report") != p.r: steps.append(("file", "broken", "The proof given with the file is about a different report than the proof in the file."))
    if p:
        step("file", p.file, base)
        for name in ("event", "inclusion", "checkpoint", "attestation"): step(name, getattr(p, name))
    elif not any(name in ("file", "signature") for name, _, _ in steps): steps.append(("file", "untold", "There is no proof in the file, and none was given with it."))
    if signed: step("signature", signature, keys, p and p.at, *signed)
    return steps


def status(steps):
    states = {state for _, state, _ in steps}
    return 1 if "broken" in states else 3 if "untold" in states else 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    keys = options.add_mutually_exclusive_group(required=True)
    for name, to in (("--keys", keys), ("--trust", keys), ("--proof", options)): to.add_argument(name, type=argparse.FileType("rb"))
    options.add_argument("file", type=argparse.FileType("rb"))
    o = options.parse_args()
    given = (o.keys or o.trust).read()
    steps = verify(o.file.read(), o.proof and o.proof.read(), given, time.time_ns() // 1000, bool(o.trust))
    try: print("keys with the fingerprint", fingerprint(trusted(given, bool(o.trust))[0]))
    except Exception: pass  # the steps say so
    for line in steps: print("%-12s %-7s %s" % line)
    return status(steps)


if __name__ == "__main__": sys.exit(main())
