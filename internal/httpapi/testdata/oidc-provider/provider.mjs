// A real OpenID Connect provider on 127.0.0.1, for one test. It knows the people
// of PEOPLE ({"<subject>": {claims}}), who sign in by entering their subject, and
// one client, which must use PKCE and comes back to REDIRECT_URI. It prints its
// issuer when it is ready, changes its signing keys at POST /rotate, and ends when
// its standard input does: with the test, however that ends.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const people = JSON.parse(process.env.PEOPLE);
let issuer, handle;

function start() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    clients: [{ client_id: "muster", client_secret: process.env.CLIENT_SECRET, redirect_uris: [process.env.REDIRECT_URI] }],
    pkce: { required: () => true },
    scopes: ["openid", "email", "profile"],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_, id) => (people[id] ? { accountId: id, claims: () => ({ sub: id, ...people[id] }) } : undefined),
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: randomUUID(), alg: "RS256", use: "sig" }] },
    cookies: { keys: [randomUUID()] },
  });
  handle = provider.callback();
}

const server = createServer((request, response) => {
  if (request.method === "POST" && request.url === "/rotate") {
    start();
    response.writeHead(204).end();
    return;
  }
  handle(request, response);
});
server.listen(0, "127.0.0.1", () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  start();
  console.log(issuer);
});
process.stdin.on("end", () => process.exit(0)).resume();
