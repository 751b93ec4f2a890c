// `npm run bench`: receiving, reading and sending rates and the memory of the appliance, each compared with a baseline.
// npm run bench -- inbound --messages 1000 --stacks postfix,rspamd     npm run bench -- inbound --sources
// npm run bench -- reading mailbox --largest 20000     npm run bench -- idle     npm run bench -- imap-fuzz --messages 1000 --seed 7
// npm run bench -- roundcube --largest 66000     npm run bench -- spam --messages 1000 (that the slow filters read)

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { benchAccept } from './accept.ts'
import { benchDrain } from './drain.ts'
import { benchEntries } from './entries.ts'
import { benchIdle } from './idle.ts'
import { benchImap } from './imap.ts'
import { benchImapFuzz } from './imap-fuzz.ts'
import { benchInbound } from './inbound.ts'
import { benchMailbox } from './mailbox.ts'
import { type Form, prepareForm } from './mailstead.ts'
import { benchOutside } from './outside.ts'
import { benchReading } from './reading.ts'
import { benchRoundcube } from './roundcube.ts'
import { benchSoak } from './soak.ts'
import { benchSpam } from './spam.ts'
import { STACKS } from './stacks/stacks.ts'
import { benchWeb } from './web.ts'
import { benchWebhooks } from './webhooks.ts'
import { benchWebmail } from './webmail.ts'

const ALL_STACKS = STACKS.map(({ id }) => id)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    messages: { type: 'string', default: '1000' },
    largest: { type: 'string', default: '200000' },
    stacks: { type: 'string', default: ALL_STACKS.join(',') },
    sources: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '120' },
    rate: { type: 'string', default: '1' },
    limit: { type: 'string', default: '' },
    snapshots: { type: 'string', default: '' },
  },
})
const PARTS = [
  ...[
    'inbound',
    'reading',
    'mailbox',
    'imap',
    'roundcube',
    'entries',
    'accept',
    'drain',
    'webhooks',
    'idle',
    'outside',
    'web',
    'webmail',
  ],
]
/** Larger folders say no more beside Dovecot. */
const IMAP_MESSAGES = 50_000
const ROUNDCUBE_MESSAGES = 66_000
/** Only when it is named: it measures nothing, and takes ten minutes. */
const FUZZER = 'imap-fuzz'
/** Only when it is named: it takes hours. */
const SOAK = 'soak'
/** Only when it is named: it fetches a corpus, and takes half an hour beside the other filters. */
const SPAM = 'spam'
const NAMED_ONLY = [FUZZER, SOAK, SPAM]
const parts = positionals.length > 0 ? positionals : PARTS
const stacks = values.stacks.split(',').filter(Boolean)
const rate = Number(values.rate)
const unknown = [
  ...parts.filter((part) => !NAMED_ONLY.includes(part) && !PARTS.includes(part)),
  ...stacks.filter((stack) => !ALL_STACKS.includes(stack)),
]
const [messages, largest] = [Number(values.messages), Number(values.largest)]
if (unknown.length > 0 || !(messages >= 100) || !(largest >= 1000) || !(rate > 0)) {
  console.error(
    `npm run bench -- [${[...PARTS, ...NAMED_ONLY].join('] [')}] [--messages 1000 (100 or more)] [--largest 200000 (1000 or more)]
  [--seed 1 (of imap-fuzz, which sends messages × 1000 commands)]
  [--minutes 120 (of soak)] [--rate 0.2 (of soak: of the full load)] [--limit 512 (MiB of memory, of soak)]
  [--snapshots 10,60 (of soak: minutes at which every thread writes its heap to /tmp)]
  [--stacks ${ALL_STACKS.join(',')} (to compare receiving with; "" for none)] [--sources (instead of the bundle)]`,
  )
  process.exit(1)
}
const form: Form = values.sources ? 'sources' : 'bundle'

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
const folder = mkdtempSync(join(tmpdir(), 'mailstead-bench-'))
execFileSync('chmod', ['755', folder])
const BUNDLED = ['inbound', 'reading', 'mailbox', 'imap', 'roundcube', 'drain', 'outside', 'webmail', SOAK]
if (parts.some((part) => BUNDLED.includes(part))) await prepareForm(form)
console.log(`Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model.trim()}, data in ${folder}`)
try {
  if (parts.includes('inbound')) await benchInbound(folder, { messages: messages * 5, form, stacks })
  if (parts.includes('reading')) await benchReading(folder, form, largest)
  if (parts.includes('mailbox')) await benchMailbox(folder, form, largest)
  if (parts.includes('imap')) await benchImap(folder, form, Math.min(largest, IMAP_MESSAGES))
  if (parts.includes('roundcube')) await benchRoundcube(folder, form, Math.min(largest, ROUNDCUBE_MESSAGES))
  if (parts.includes('entries')) await benchEntries(folder, largest)
  if (parts.includes('accept')) await benchAccept(folder, messages * 20)
  if (parts.includes('drain')) {
    const alone = [10, 100].map((times) => ({ messages: messages * times, recipients: 1 }))
    await benchDrain(folder, form, [...alone, { messages, recipients: 10 }])
  }
  if (parts.includes('webhooks')) await benchWebhooks(folder, messages * 10)
  if (parts.includes('idle')) await benchIdle(folder)
  if (parts.includes('web')) await benchWeb(folder)
  if (parts.includes('webmail')) await benchWebmail(folder, form, largest)
  if (parts.includes('outside')) await benchOutside(folder, form, largest)
  if (parts.includes(SOAK)) {
    const snapshots = values.snapshots.split(',').filter(Boolean).map(Number)
    const limitMib = values.limit === '' ? null : Number(values.limit)
    await benchSoak(folder, { minutes: Number(values.minutes), rate, snapshots, limitMib })
  }
  if (parts.includes(SPAM)) await benchSpam(folder, messages)
  if (parts.includes(FUZZER)) await benchImapFuzz(messages * 1000, Number(values.seed))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
