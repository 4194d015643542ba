#!/usr/bin/env node
// Sends each text of the JSON parsing test suite (Nicolas Seriot's, which it fetches from npm) to a server of the HTTP
// binding: strings and numbers as the value of a parameter, which must come back as JavaScript reads it, or be refused
// where it isn't JSON; all else as the whole body, which no message looks like, so it must be refused, and the server
// must go on.
//   systems/tests/json-suite.mjs DRYSTONE
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const SUITE = "json-test-suite";
const PORT = 18473;
const SERVER = `
COMPONENT Echoes;
  INTERFACE Echo;
    { IN Text(x: TEXT) OUT TextIs(x: TEXT) | IN Number(x: REAL) OUT NumberIs(x: REAL) }
  END Echo;
  COMPONENT Host OFFERS Echo;
    IMPLEMENTATION Echo;
    VARIABLE text: TEXT; number: REAL;
    BEGIN
      WHILE ?Text OR ?Number DO
        IF ?Text THEN ?Text(text); !TextIs(text) ELSE ?Number(number); !NumberIs(number) END
      END
    END Echo;
  END Host;
VARIABLE host: Host;
BEGIN
  NEW(host); EXPORT(Echo(host), "http://127.0.0.1:${PORT}/echo"); WRITE("ready"); WRITELINE;
  WHILE TRUE DO PASSIVATE(60000) END
END Echoes;
`;

const [drystone] = process.argv.slice(2);
if (!drystone) {
  console.error("usage: systems/tests/json-suite.mjs DRYSTONE");
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "json-suite-"));
let server;
try {
  execFileSync("npm", ["install", "--silent", "--prefix", folder, `${SUITE}@1.0.0`]);
  const { parsing } = await import(pathToFileURL(join(folder, "node_modules", SUITE, "index.js")));
  writeFileSync(join(folder, "Echoes.dry"), SERVER);
  server = spawn(drystone, ["run", join(folder, "Echoes.dry")], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: server.stdout })) if (line === "ready") break;
  let compared = 0, refused = 0, either = 0;
  const wrong = [];
  for (const { name, input } of parsing) {
    const told = await found(name, input);
    if (told === "compared") compared++;
    else if (told === "refused") refused++;
    else if (told === "either") either++;
    else wrong.push(`${name}: ${told}`);
  }
  const kinds = `${compared} came back, ${refused} were refused, ${either} may be either`;
  console.log(`${parsing.length} texts: ${kinds}; ${wrong.length} wrong`);
  wrong.forEach(line => console.log(line));
  process.exitCode = wrong.length ? 1 : 0;
} finally {
  server?.kill();
  rmSync(folder, { recursive: true });
}

// "compared", "refused", "either", or what is wrong.
async function found(name, input) {
  const value = input.match(/^\s*\[(.*)\]\s*$/s)?.[1];
  const kind = name.includes("_string_") && value?.trim().startsWith('"') ? "Text"
    : name.includes("_number_") && value !== undefined ? "Number" : undefined;
  const { status, body } = await said(kind ?? "Text", kind ? `{"x":${value}}` : input);
  if (status !== 200 && status !== 400) return `status ${status}: ${body}`;
  if (name.startsWith("i_")) return "either";
  if (!kind || name.startsWith("n_")) return status === 400 ? "refused" : `taken: ${body}`;
  const [expected] = JSON.parse(input);
  if (typeof expected !== (kind === "Text" ? "string" : "number")) return status === 400 ? "refused" : `taken: ${body}`;
  if (status !== 200) return `refused: ${body}`;
  const got = Object.values(JSON.parse(body))[0].x;
  return Object.is(got, expected) ? "compared" : `${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`;
}

async function said(message, body) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`http://127.0.0.1:${PORT}/echo/${message}`, { method: "POST", headers, body });
  return { status: response.status, body: await response.text() };
}
