// Servers that do not stop: run in a thread of their own, since node:test follows every promise of its thread, which takes longer than they do.

import process from 'node:process'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { AccountServer } from '../../src/sync/model/server.ts'
import { type HostileScript, startHostileImap } from './hostile-imap.ts'
import { openHostile } from './hostile-session.ts'

interface Flood {
  name: string
  script: HostileScript
  call: (account: AccountServer) => Promise<unknown>
  /** The value as text, or the effect and sentence of the error. */
  expects: RegExp
}

const HEAD = 'FLAGS (\\Seen) RFC822.SIZE 12 INTERNALDATE "17-Jul-1996 02:44:25 -0700"'
const MEGABYTE = 'x'.repeat(1 << 20)

export const FLOODS: Flood[] = [
  {
    name: 'lists folders without end',
    script: { answers: { LIST: (connection) => void connection.flood('* LIST () "/" x\r\n'.repeat(1000)) } },
    call: (account) => account.folders(),
    expects: /^delay: .* lists more than 10000 folders/,
  },
  {
    name: 'lists 6,000 folders',
    script: {
      answers: { LIST: `${Array.from({ length: 6000 }, (_, at) => `* LIST () "/" f${at}`).join('\r\n')}\r\n$T OK` },
    },
    call: async (account) => (await account.folders()).length,
    expects: /^5000$/,
  },
  {
    name: 'gives a message again and again',
    script: {
      answers: { 'UID FETCH': (connection) => void connection.flood(`* 1 FETCH (UID 1 ${HEAD})\r\n`.repeat(100)) },
    },
    call: (account) => account.heads([[1, 2]]),
    expects: /^delay: .* more responses than/,
  },
  {
    name: 'sends literals without end in one response',
    script: {
      answers: {
        'UID FETCH': (connection) => {
          connection.write('* 1 FETCH (UID 1 ')
          void connection.flood(`X {1048576}\r\n${MEGABYTE} `)
        },
      },
    },
    call: (account) => account.contents([1]),
    expects: /^delay: .* above the limits/,
  },
  {
    name: 'has a message without end',
    script: {
      answers: {
        'UID FETCH': (connection, tag, line) =>
          connection.write(
            `* 1 FETCH (UID 1 BODY[]<${/<(\d+)\./.exec(line)?.[1]}> {1048576}\r\n${MEGABYTE})\r\n${tag} OK\r\n`,
          ),
      },
    },
    call: async (account) => {
      for await (const _ of (await account.content(1))!);
    },
    expects: /^refused: The message has more than 52428800 bytes/,
  },
  {
    name: 'announces messages in IDLE without end',
    script: {
      answers: {
        IDLE: (connection) => {
          connection.write('+ idling\r\n')
          void connection.flood('* 3 EXISTS\r\n'.repeat(100))
        },
      },
    },
    call: (account) => account.wait(1000, new AbortController().signal),
    expects: /^delay: .* more responses than/,
  },
  {
    name: 'announces what vanished between commands without end',
    script: {
      answers: {
        'UID SEARCH': (connection, tag) =>
          void connection.flood(`${tag} OK\r\n${'* VANISHED 1:4294967295\r\n'.repeat(1000)}`),
      },
    },
    call: async (account) => {
      await account.uids()
      return account.wait(1000, new AbortController().signal)
    },
    expects: /^"changed"$/,
  },
]

/** @returns what came of it, and how much memory of the process was in use at most */
export function runFlood(name: string): Promise<{ answer: string; bytes: number }> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: name,
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    })
    worker.once('message', resolve).once('error', reject)
  })
}

async function flood({ script, call }: Flood): Promise<void> {
  let bytes = 0
  const began = process.memoryUsage().rss
  const timer = setInterval(() => {
    bytes = Math.max(bytes, process.memoryUsage().rss - began)
  }, 20)
  const server = await startHostileImap()
  const account = await openHostile(server)
  await account.select('INBOX', null)
  server.script = script
  const answer = await call(account).then(
    (value) => JSON.stringify(value),
    (error: Error & { effect?: string }) => `${error.effect}: ${error.message}`,
  )
  clearInterval(timer)
  parentPort!.postMessage({ answer, bytes })
  server.script = {}
  await account.close()
  await server[Symbol.asyncDispose]()
}

if (!isMainThread && typeof workerData === 'string') {
  const found = FLOODS.find(({ name }) => name === workerData)
  if (found !== undefined) await flood(found)
}
