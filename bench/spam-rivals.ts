// Other spam filters on the same messages in the same order: each predicts, then learns the label where it can learn.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { CorpusMessage } from '../scripts/spam/corpus.ts'
import { startServer } from './processes.ts'
import type { Verdicts } from './spam-measure.ts'
import { RSPAMD } from './stacks/filters.ts'
import { NOBODY } from './stacks/postfix.ts'

export interface Rival {
  name: string
  /** Elapsed time of predicting and learning one message, ms. */
  elapsedMs: number
  verdicts: Verdicts
}

const BOGOFILTER = '/usr/bin/bogofilter'
const SPAMASSASSIN = '/usr/bin/spamassassin'

/** Debian's bogofilter with its defaults. */
export function bogofilter(folder: string, messages: readonly CorpusMessage[]): Rival | null {
  if (!existsSync(BOGOFILTER)) return null
  const home = join(folder, 'bogofilter')
  mkdirSync(home)
  const run = (options: string[], input: Uint8Array) =>
    spawnSync(BOGOFILTER, ['-d', home, ...options], { input, encoding: 'utf8' }).stdout
  // Without a word list it refuses to predict.
  run(['-n'], Buffer.from('Subject: first\n\nfirst\n'))
  const started = performance.now()
  const scores = messages.map(({ bytes, isSpam }) => {
    // "-t": the class and the score on one line.
    const score = Number(run(['-t'], bytes).trim().split(/\s+/)[1])
    run([isSpam ? '-s' : '-n'], bytes)
    return score
  })
  return rival('bogofilter', started, scores, messages)
}

/** One process that reads "label length" and the message, checks it without the network, learns the label, and writes the score. */
const SPAMASSASSIN_LOOP = `
use Mail::SpamAssassin; $| = 1; binmode STDIN;
my $sa = Mail::SpamAssassin->new({ local_tests_only => 1, dont_copy_prefs => 1, userstate_dir => $ARGV[0],
  config_text => undef, post_config_text => "bayes_path $ARGV[0]/bayes\nuse_bayes 1\nbayes_auto_learn 0\nuse_auto_whitelist 0\nuse_txrep 0\n" });
$sa->init(1);
while (defined(my $head = <STDIN>)) {
  my ($label, $length) = split / /, $head; read(STDIN, my $text, $length);
  my $mail = $sa->parse($text); my $status = $sa->check($mail); printf "%s\n", $status->get_score(); $status->finish();
  $sa->learn($mail, undef, $label, 0)->finish(); $mail->finish();
}`

/** Debian's SpamAssassin with its rules and Bayes, without what asks servers of the internet. */
export async function spamAssassin(folder: string, messages: readonly CorpusMessage[]): Promise<Rival | null> {
  if (!existsSync(SPAMASSASSIN)) return null
  const home = join(folder, 'spamassassin')
  mkdirSync(home)
  const child = spawn('perl', ['-e', SPAMASSASSIN_LOOP, home], { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const scores: number[] = []
  const started = performance.now()
  for (const { bytes, isSpam } of messages) {
    child.stdin.write(`${Number(isSpam)} ${bytes.length}\n`)
    child.stdin.write(bytes)
    const { value, done } = await lines.next()
    if (done) return null
    scores.push(Number(value))
  }
  const ended = once(child, 'exit')
  child.stdin.end()
  await ended
  return rival('SpamAssassin', started, scores, messages)
}

/** Debian's rspamd with its rules, without the network; its statistics need Redis and are off. */
export async function rspamd(folder: string, messages: readonly CorpusMessage[]): Promise<Rival | null> {
  if (!existsSync(RSPAMD)) return null
  const home = join(folder, 'rspamd')
  for (const name of ['', 'override.d', 'local.d', 'maps.d', 'db', 'log', 'run']) mkdirSync(join(home, name))
  const socket = join(home, 'normal.sock')
  const off = [
    'rbl',
    'surbl',
    'fuzzy_check',
    'asn',
    'greylist',
    'ratelimit',
    'history_redis',
    'dkim_signing',
    'replies',
  ]
  const files: Record<string, string> = {
    'options.inc': `local_addrs = ["192.0.2.1"];\ndns { nameserver = ["127.0.0.1:9"]; timeout = 0.1s; retransmits = 1; }\ncontrol_socket = "${home}/control.sock mode=0600";\n`,
    'logging.inc': 'level = "error";\n',
    'worker-normal.inc': `bind_socket = "${socket} mode=0666";\ncount = 1;\n`,
    'worker-fuzzy.inc': 'enabled = false;\n',
    'worker-proxy.inc': 'enabled = false;\n',
    'worker-controller.inc': `bind_socket = "${home}/controller.sock mode=0666";\n`,
    ...Object.fromEntries(off.map((name) => [`${name}.conf`, 'enabled = false;\n'])),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, 'override.d', name), text)
  for (const name of ['', 'db', 'log', 'run']) chownSync(join(home, name), NOBODY, NOBODY)
  const places = { LOCAL_CONFDIR: '', DBDIR: 'db', LOGDIR: 'log', RUNDIR: 'run' }
  const variables = Object.entries(places).map(([name, path]) => `--var=${name}=${join(home, path)}`)
  const command = [RSPAMD, '-f', '-u', 'nobody', '-g', 'nogroup', '-c', '/etc/rspamd/rspamd.conf', ...variables]
  await using server = await startServer(command, socket)
  const scores: number[] = []
  const started = performance.now()
  for (const { bytes } of messages) scores.push(await rspamdScore(socket, bytes, server.failed))
  return rival('rspamd, rules only', started, scores, messages)
}

async function rspamdScore(socketPath: string, bytes: Uint8Array, failed: Promise<never>): Promise<number> {
  const call = request({ socketPath, path: '/checkv2', method: 'POST' })
  call.end(bytes)
  const [response] = (await Promise.race([once(call, 'response'), failed])) as [AsyncIterable<Buffer>]
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part)
  return (JSON.parse(Buffer.concat(parts).toString()) as { score?: number }).score ?? 0
}

function rival(name: string, started: number, scores: number[], messages: readonly CorpusMessage[]): Rival {
  const elapsedMs = (performance.now() - started) / messages.length
  return { name, elapsedMs, verdicts: { scores, labels: messages.map(({ isSpam }) => isSpam) } }
}
