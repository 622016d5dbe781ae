#!/usr/bin/env bash
# Checks a report with none of Muster's programs: what `muster verify --offline` does, step
# by step, with openssl (3), poppler's pdfsig and pdfdetach, qpdf, and python3's standard
# library. An auditor can read it from top to bottom and run each command alone.
#
#   scripts/check_report.sh FILE.pdf --keys muster-keys.json [--proof proof.json] [--tsa-ca ca.pem]
#   scripts/check_report.sh FILE.pdf --trust trust.json [--proof proof.json]
#
# A line a step: its name, its state, a sentence. Exit status 0: all that is claimed holds
# under these keys; 1: something contradicts; 3: cannot tell, because something is missing.
set -uo pipefail

usage() { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 3; }
file='' keys='' proof='' tsa='' trust=''
while [ $# -gt 0 ]; do
  case $1 in
  --trust) trust=${2-}; shift 2 || usage ;;
  --keys) keys=${2-}; shift 2 || usage ;;
  --proof) proof=${2-}; shift 2 || usage ;;
  --tsa-ca) tsa=${2-}; shift 2 || usage ;;
  -*) usage ;;
  *) [ -z "$file" ] || usage; file=$1; shift ;;
  esac
done
if [ -z "$file" ] || [ -z "$keys$trust" ]; then usage; fi
if [ -n "$trust" ] && [ -n "$keys$tsa" ]; then usage; fi # it has both
for tool in openssl pdfsig pdfdetach qpdf python3; do
  command -v $tool >/dev/null || { echo "needs $tool" >&2; exit 3; }
done

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
broken=0 untold=0

# say STEP STATE SENTENCE
say() {
  printf '%-12s %-10s %s\n' "$1" "$2" "$3"
  case $2 in broken) broken=1 ;; untold) untold=1 ;; esac
}

# compute ARGUMENTS: Python's standard library, without what is installed beside it
compute() { python3 -I -S "$here/check_report.py" "$@"; }

# lived USE.ID SEEN: what the key's lifetime makes of its signature, in $state and $said
lived() {
  read -r state said < <(compute --lived "$work" "$1" "$2")
}

# computed STEP: what python found
computed() {
  local of
  for of in "$work/$1".*; do say "$1" "${of##*.}" "$(cat "$of")"; done
}

# signed KEY.der SIGNATURE FILE: an Ed25519 signature, by OpenSSL
signed() {
  openssl pkey -pubin -inform DER -in "$1" -out "$work/key.pem" 2>/dev/null &&
    openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$3" -sigfile "$2" >/dev/null 2>&1
}

verdict() {
  if [ $broken = 1 ]; then echo "It does not hold."; exit 1; fi
  if [ $untold = 1 ]; then echo "Cannot tell."; exit 3; fi
  echo "It holds."; exit 0
}

# The trust file: keys, authorities of time stamps, and witnesses.
if [ -n "$trust" ]; then
  said=$(compute --trust "$work" "$trust") || { say file untold "The trust file cannot be read: $said"; verdict; }
  keys=$work/keys.json
  if [ -s "$work/tsa.pem" ]; then tsa=$work/tsa.pem; fi
fi
if said=$(compute --fingerprint "$keys"); then echo "keys with the fingerprint $said"; fi

# A file that another program wrote again is not the one that was signed.
rewritten=$(compute --rewritten "$file")
if [ -n "$rewritten" ]; then
  say signature broken "The file was changed after Muster built it: $rewritten."
  [ -n "$proof" ] || verdict
fi

# The proof: an attachment of the PDF, unless another one is given.
if [ -n "$proof" ]; then
  cp "$proof" "$work/proof.json" && touch "$work/beside" || exit 3
else
  which=$(pdfdetach -list "$file" 2>/dev/null | sed -n 's/^\([0-9]*\): proof\.json$/\1/p' | head -n 1)
  [ -n "$which" ] && pdfdetach -save "$which" -o "$work/proof.json" "$file" >/dev/null 2>&1
fi
[ -s "$work/proof.json" ] || { say file untold "There is no proof in the file, and none was given with it (--proof)."; verdict; }
said=$(compute "$work" "$file" "$keys") || { say file untold "File, proof or keys cannot be read: $said"; verdict; }

# file: the revision before the signed update is the one that the proof names.
qpdf --check "$file" >"$work/qpdf.txt" 2>&1
if [ $? = 2 ] && [ ! -e "$work/companion" ]; then
  say file broken "qpdf finds the PDF damaged: $(tail -n 1 "$work/qpdf.txt")"
elif [ -e "$work/companion" ]; then
  say file held "The file is $(cat "$work/companion") of the report, SHA-256 $(cat "$work/base.sha256")."
elif [ "$(cat "$work/base.sha256")" = "$(cat "$work/claimed.sha256")" ]; then
  say file held "The file is the report as it was built, SHA-256 $(cat "$work/base.sha256")."
else
  say file broken "The PDF without its signed update has the SHA-256 $(cat "$work/base.sha256"), and the report's is $(cat "$work/claimed.sha256")."
fi

# event, inclusion: SHA-256 over the layouts of eventstore/digest.go and RFC 6962.
computed event
computed inclusion

# timestamp: somebody else's clock, judged at the time that it shows.
# Seen is when it was there at the latest: the attestation, or anything of it.
stamped="not asked" shows="There is no time stamp."
if [ -n "$tsa" ]; then stamped=untold; fi # asked for, and not there
seen_report='' seen_any=''
for token in "$work"/stamp.*.der; do
  [ -e "$token" ] || continue
  name=$(basename "${token%.der}" | cut -d. -f2)
  shown=$(openssl ts -reply -in "$token" -token_in -text 2>/dev/null | sed -n 's/^Time stamp: //p')
  if [ -z "$tsa" ]; then
    stamped="not asked" shows="There is a time stamp of $shown; its authority was not checked (--tsa-ca)."
    continue
  fi
  if openssl ts -verify -digest "$(cat "${token%.der}.digest")" -in "$token" -token_in -CAfile "$tsa" -attime "$(date -d "$shown" +%s)" >/dev/null 2>&1; then
    at=$(date -d "$shown" +%s)
    if [ -z "$seen_any" ] || [ "$at" -lt "$seen_any" ]; then seen_any=$at; fi
    if [ "$name" = attestation ] || { [ "$name" = signature ] && [ -e "$work/signature.attests" ]; }; then
      if [ -z "$seen_report" ] || [ "$at" -lt "$seen_report" ]; then seen_report=$at; fi
    fi
    [ "$stamped" = broken ] || { stamped=held; shows="Stamped at $shown by one of the given authorities ($name)."; }
  else
    stamped=broken shows="The time stamp of the $name is not valid."
  fi
done
if [ -n "$seen_any" ] && [ "$stamped" = held ]; then
  away=$((seen_any - $(cat "$work/recorded")))
  if [ "${away#-}" -gt 86400 ]; then
    stamped=broken shows="The report says that it was recorded on $(date -u -d "@$(cat "$work/recorded")" '+%Y-%m-%d %H:%M:%SZ'), but the first outside clock that saw it says $(date -u -d "@$seen_any" '+%Y-%m-%d %H:%M:%SZ'): the report's time is wrong."
  fi
fi

# checkpoint: the log's key signed the tree.
# After a rotation there are two signatures, of which one is enough.
best=0 sealed=untold says="None of the given keys signed the log's tree."
for key in "$work"/log.*.der; do
  [ -e "$key" ] || continue
  if ! signed "$key" "${key%.der}.sig" "$work/checkpoint.txt"; then
    sealed=broken says="The log's tree was changed after it was signed."
    break
  fi
  name=$(basename "${key%.der}")
  lived "$name" "$seen_any"
  case $state in held) worth=3 said="The log's tree is signed by key ${name#log.}${said:+ $said}." ;; untold) worth=2 ;; *) worth=1 ;; esac
  if [ $worth -gt $best ]; then best=$worth sealed=$state says=$said; fi
done
if [ -e "$work/checkpoint.other" ]; then sealed=broken says="The checkpoint belongs to another log."; fi
say checkpoint "$sealed" "$says"

# attestation: the report key signed the statement.
id=$(cat "$work/attestation.key")
state=untold
for key in "$work"/report.*.der; do
  [ -e "$key" ] || continue
  if signed "$key" "$work/attestation.sig" "$work/statement.txt"; then state=held; break; fi
  if [ "$key" = "$work/report.$id.der" ]; then state=broken; fi
done
case $state in
held)
  name=$(basename "${key%.der}")
  lived "$name" "$seen_report"
  if [ "$state" = held ]; then said="Report, organization, scope, PDF, inputs and head are signed by key ${name#report.}${said:+ $said}."; fi
  say attestation "$state" "$said"
  ;;
broken) say attestation broken "Key $id signed a different statement about the report." ;;
*) say attestation untold "Key $id is named as the signer of the report, but is not among the given keys." ;;
esac

# signature: pdfsig on the file, and OpenSSL on the CMS with a published certificate.
if [ -n "$rewritten" ]; then
  : # said above
elif [ ! -e "$work/signature.der" ]; then
  say signature "not asked" "The file is the report as it was built: it has no PDF signature."
else
  pdfsig "$file" >"$work/pdfsig.txt" 2>&1
  state=untold said="None of the given certificates fits the PDF's signature."
  for certificate in "$work"/pdf.*.pem; do
    [ -e "$certificate" ] || continue
    if openssl cms -verify -cades -binary -inform DER -in "$work/signature.der" -content "$work/covered.bin" -certfile "$certificate" \
      -CAfile "$certificate" -partial_chain -purpose any -attime "$(cat "$work/signature.at")" -out /dev/null >/dev/null 2>"$work/cms.txt"; then
      name=$(basename "${certificate%.pem}")
      lived "$name" "$seen_any"
      if [ "$state" = held ]; then said="The whole PDF is signed with the certificate of key ${name#pdf.}, by its own clock on $(date -u -d "@$(cat "$work/signature.at")" '+%Y-%m-%d %H:%M:%SZ')."; fi
      if [ -e "$work/signature.apart" ]; then state=broken said=$(cat "$work/signature.apart"); fi
      break
    fi
  done
  if ! grep -q 'Signature Validation: Signature is Valid' "$work/pdfsig.txt"; then
    state=broken said="pdfsig says: $(sed -n 's/.*Signature Validation: //p' "$work/pdfsig.txt" | head -n 1)"
  elif [ -e "$work/covered.not" ] || ! grep -q 'Total document signed' "$work/pdfsig.txt" || grep -q 'Not total document signed' "$work/pdfsig.txt"; then
    state=broken said="The signature does not cover the whole file."
  elif [ "$(grep -c 'Signature #' "$work/pdfsig.txt")" != 1 ]; then
    state=broken said="There is more than one signature."
  fi
  say signature "$state" "$said"
fi

say timestamp "$stamped" "$shows"
if [ -s "$work/witnesses" ]; then
  say witness untold "The trust file requires $(cat "$work/witnesses") of its witnesses; muster verify --offline checks their signatures."
else
  say witness "not asked" "muster verify --offline --witnesses checks the signatures of witnesses."
fi
verdict
