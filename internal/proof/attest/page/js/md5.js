// MD5, which browsers do not have: ISO 32000 wants it of an embedded file's /CheckSum, and an
// update is Muster's only where it is written as Muster writes it. Nothing rests on it.

const md5Turns = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const md5Sines = Array.from({ length: 64 }, (_, i) => Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1))) >>> 0);

/** md5 is the digest (RFC 1321) of bytes, in hex. */
function md5(bytes) {
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const padded = new Uint8Array(length);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(length - 8, BigInt(bytes.length) * 8n, true);
  let sums = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let block = 0; block < length; block += 64) {
    let [a, b, c, d] = sums;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const f = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round];
      const word = [i, 5 * i + 1, 3 * i + 5, 7 * i][round] % 16;
      const turn = md5Turns[4 * round + (i % 4)];
      const mixed = (a + f + md5Sines[i] + view.getUint32(block + 4 * word, true)) | 0;
      [a, d, c, b] = [d, c, b, (b + ((mixed << turn) | (mixed >>> (32 - turn)))) | 0];
    }
    sums = [(sums[0] + a) | 0, (sums[1] + b) | 0, (sums[2] + c) | 0, (sums[3] + d) | 0];
  }
  const out = new DataView(new ArrayBuffer(16));
  sums.forEach((s, i) => {
    out.setInt32(4 * i, s, true);
  });
  return hex(new Uint8Array(out.buffer));
}
