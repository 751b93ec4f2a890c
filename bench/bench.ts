// `npm run bench`: receiving, reading and accepting rates and the memory of the appliance, each compared with a baseline.
// npm run bench -- inbound --messages 2000     npm run bench -- reading mailbox --largest 20000     npm run bench -- idle

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { benchAccept } from './accept.ts'
import { benchDrain } from './drain.ts'
import { benchIdle } from './idle.ts'
import { benchInbound } from './inbound.ts'
import { benchMailbox } from './mailbox.ts'
import { benchReading } from './reading.ts'
import { benchWebhooks } from './webhooks.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { messages: { type: 'string', default: '2000' }, largest: { type: 'string', default: '200000' } },
})
const PARTS = ['inbound', 'reading', 'mailbox', 'accept', 'drain', 'webhooks', 'idle']
const parts = positionals.length > 0 ? positionals : PARTS
const unknown = parts.filter((part) => !PARTS.includes(part))
const [messages, largest] = [Number(values.messages), Number(values.largest)]
if (unknown.length > 0 || !(messages >= 100) || !(largest >= 1000)) {
  console.error(
    'npm run bench -- [inbound] [reading] [mailbox] [accept] [drain] [webhooks] [idle] [--messages 2000 (100 or more)] [--largest 200000 (1000 or more)]',
  )
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'mailstead-bench-'))
execFileSync('chmod', ['755', folder])
console.log(`Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model.trim()}, data in ${folder}`)
try {
  if (parts.includes('inbound')) await benchInbound(folder, messages)
  if (parts.includes('reading')) await benchReading(folder, largest)
  if (parts.includes('mailbox')) await benchMailbox(folder, largest)
  if (parts.includes('accept')) await benchAccept(folder, messages * 10)
  if (parts.includes('drain')) await benchDrain(folder, [messages * 5, messages * 50])
  if (parts.includes('webhooks')) await benchWebhooks(folder, messages * 5)
  if (parts.includes('idle')) await benchIdle(folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
