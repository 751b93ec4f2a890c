// The mail pages over a mailbox of 200,000 messages in Chromium: each figure beside its budget, on a desk, and on a phone with a slow processor.

import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { buildWeb, measure } from '../scripts/build-web.ts'
import { BUNDLED_CLI } from '../scripts/bundle.js'
import { launchChromium, type ViewName, WebPage } from '../test/support/chromium.ts'
import { type Box, fillBoxes } from './boxes.ts'
import { type Form, startEnv } from './mailstead.ts'
import { type Child, freePort, startNode, untilOpen } from './processes.ts'
import type { SeededReader } from './seed-reader.ts'
import { applianceEnv } from './settings.ts'
import { printTable, quantile, short } from './table.ts'
import { type Mail, MailPage } from './webmail-page.ts'

/** No DNS server is needed: nothing is received or sent. */
const NO_DNS = '127.0.0.1:9'
const HTML_EVERY = 4
const OPENED = 50
const JUMPS = 20
const COLD = 5
/** Threads before the heap is measured first, and at the end. */
const HEAP_AFTER = [50, 500] as const
const WORDS = ['lantern', 'zanzibar', 'copper', 'invoice', 'harbour']

interface Figure {
  name: string
  /** ms, KB or MB. */
  sample: readonly number[]
  unit: 'ms' | 'KB' | 'MB'
  /** Of the median; of the 95th percentile where `isTail` is set. */
  most?: number
  isTail?: true
}

interface Device {
  name: string
  view: ViewName
  /** Times the processor is slowed. */
  slowed: number
  budgets: { opened: number; drawn: number; search?: number; painted?: number; listed?: number; jump?: number }
}

const DEVICES: readonly Device[] = [
  {
    name: 'desk, 1440 × 900',
    view: 'light',
    slowed: 1,
    budgets: { opened: 100, drawn: 16, search: 100, painted: 300, listed: 500, jump: 150 },
  },
  { name: 'phone, 390 × 844, processor slowed 4 times', view: 'phone', slowed: 4, budgets: { opened: 200, drawn: 50 } },
]

async function seedReader(box: Box, env: Record<string, string>): Promise<string> {
  await using child = startNode('bench/seed-reader.ts', [box.id, box.email], env)
  const { cookie } = await child.message<SeededReader>()
  await child.ended
  return cookie
}

/** The appliance on a port that its pages know. */
async function start(form: Form, env: Record<string, string>, port: number): Promise<Child> {
  const child =
    form === 'sources'
      ? startNode('bench/appliance.ts', [], env)
      : startNode(BUNDLED_CLI, ['serve', '--json'], { ...startEnv(), ...env })
  await untilOpen(child, port)
  return child
}

/** @param open opens the mail pages in a browser of its own */
async function measureDevice(open: () => Promise<MailPage>, device: Device): Promise<Figure[]> {
  const { budgets } = device
  const cold: { painted: number; listed: number }[] = []
  for (let n = 0; n < COLD; n++) {
    const page = await open()
    cold.push(await page.coldTimes())
    await page.close()
  }
  await using page = await open()
  const jumps = await page.jumps(JUMPS)
  const opened = { text: [] as number[], html: [] as number[] }
  const frames = await page.emptyFrames(OPENED)
  const [threads, threadCost] = await page.costOf(OPENED, () => page.openApart(OPENED))
  for (const { kind, ms } of threads) opened[kind].push(ms)
  const [actions, actionCost] = await page.costOf(OPENED, () => page.actions(OPENED))
  const search = await page.search(WORDS)
  const [next, heap] = await page.readOn(HEAP_AFTER)
  return [
    {
      name: 'first contentful paint, nothing cached',
      sample: cold.map(({ painted }) => painted),
      unit: 'ms',
      most: budgets.painted,
    },
    { name: 'list drawn, nothing cached', sample: cold.map(({ listed }) => listed), unit: 'ms', most: budgets.listed },
    { name: 'jump in the list: scrolled → rows drawn', sample: jumps, unit: 'ms', most: budgets.jump },
    { name: 'thread opened anywhere: click → text drawn', sample: opened.text, unit: 'ms', most: budgets.opened },
    { name: 'thread opened anywhere: click → HTML drawn', sample: opened.html, unit: 'ms', most: budgets.opened },
    { name: 'processor time of the page for it', sample: [threadCost], unit: 'ms' },
    { name: 'next thread: key → drawn', sample: next, unit: 'ms', most: budgets.opened },
    { name: 'flag set: key → frame', sample: actions.frame, unit: 'ms', most: budgets.drawn },
    { name: 'an empty frame, for comparison', sample: frames, unit: 'ms' },
    { name: 'flag set: key → page changed', sample: actions.work, unit: 'ms' },
    { name: 'processor time of the page for it', sample: [actionCost], unit: 'ms' },
    { name: 'search: key → results drawn', sample: search, unit: 'ms', most: budgets.search, isTail: true },
    { name: `heap after ${HEAP_AFTER[0]} threads`, sample: [heap[0]!], unit: 'MB' },
    { name: `heap after ${HEAP_AFTER[1]} threads`, sample: [heap[1]!], unit: 'MB', most: heap[0]! + 5 },
  ]
}

function show(title: string, figures: readonly Figure[]): void {
  const rows = figures.map(({ name, sample, unit, most, isTail }) => {
    const [half, tail] = [quantile(sample, 0.5), quantile(sample, 0.95)]
    const judged = isTail === true ? tail : half
    const verdict = most === undefined ? '' : judged <= most ? 'kept' : 'MISSED'
    const limit = most === undefined ? '' : `${short(most)} ${unit}${isTail === true ? ' (p95)' : ''}`
    return [name, `${short(half)} ${unit}`, sample.length > 1 ? `${short(tail)} ${unit}` : '', limit, verdict]
  })
  printTable(title, ['', 'median', 'p95', 'budget', ''], rows)
}

async function measureScripts(): Promise<Figure[]> {
  const sizes = measure(await buildWeb()).filter(({ name }) => name.endsWith('of mail'))
  return sizes.map(({ name, bytes, budget }) => {
    return { name: `${name}, gzip`, sample: [bytes / 1000], unit: 'KB' as const, most: budget / 1000 }
  })
}

/** Milliseconds that the server takes for what the pages ask most, over one connection. */
async function measureServer(origin: string, mail: Mail): Promise<Figure[]> {
  const asks: Record<string, string> = {
    'server: page of 100 at the beginning': 'threads?limit=100&with_total=true&position=0',
    'server: page of 100 in the middle': `threads?limit=100&with_total=true&position=${mail.messages / 4}`,
    'server: search of one word': 'threads?limit=100&with_total=true&q=lantern',
    'server: search of the beginning of a word': 'threads?limit=100&with_total=true&q=lan*',
  }
  const figures: Figure[] = []
  for (const [name, path] of Object.entries(asks)) {
    const sample: number[] = []
    for (let n = 0; n < 20; n++) {
      const before = performance.now()
      const reply = await fetch(`${origin}/as/${mail.mailboxId}/api/v1/mailbox/${path}`, {
        headers: { cookie: mail.cookie, 'sec-fetch-site': 'same-origin' },
      })
      await reply.arrayBuffer()
      if (reply.status !== 200) throw new Error(`${path}: ${reply.status}`)
      sample.push(performance.now() - before)
    }
    figures.push({ name, sample, unit: 'ms' })
  }
  return figures
}

async function measureDevices(browser: Browser, origin: string, mail: Mail): Promise<void> {
  for (const device of DEVICES) {
    const open = async () => {
      const tab = await WebPage.open(browser, origin, { cookie: mail.cookie }, device.view)
      return MailPage.open(tab, mail, device.slowed)
    }
    show(`The mail pages: ${device.name}`, await measureDevice(open, device))
  }
}

/** @param messages in the mailbox */
export async function benchWebmail(folder: string, form: Form, messages: number): Promise<void> {
  const scripts = await measureScripts()
  const [port, smtp] = [await freePort(), await freePort()]
  const origin = `http://localhost:${port}`
  const data = join(folder, 'webmail')
  const env = {
    ...applianceEnv(data, NO_DNS),
    ...{ APP_ORIGIN: origin, HTTP_PORT: String(port), SMTP_PORT: String(smtp) },
  }
  const [box] = await fillBoxes(data, [messages], HTML_EVERY)
  const cookie = await seedReader(box!, env)
  await using _ = await start(form, env, port)
  const mail: Mail = { messages, cookie, mailboxId: box!.id, path: `/mail/${encodeURIComponent(box!.email)}/inbox` }
  show(`${messages.toLocaleString('en')} messages`, [...scripts, ...(await measureServer(origin, mail))])
  const browser = await launchChromium()
  await measureDevices(browser, origin, mail)
  await browser.close()
}
