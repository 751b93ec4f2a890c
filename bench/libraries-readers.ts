// Our MIME reader beside mailparser and postal-mime: speed, agreement with an oracle, hostile messages.

import { decodeText } from '../src/mime/decode.ts'
import { parseMessage } from '../src/mime/parse.ts'
import { findPart } from '../src/mime/structure.ts'
import { fixtureBytes, fixtureJson, fixtureNames } from '../test/support/fixtures.ts'
import { foreign, timed } from './foreign.ts'
import { printTable, quantile, short } from './table.ts'

/** What a reader found, as far as all of them tell it. */
interface Read {
  subject: string
  from: string
  files: number
  text: string
}

type Reader = (bytes: Buffer) => Promise<Read>

function readers(): Record<string, Reader> {
  const { simpleParser } = foreign<{ simpleParser(bytes: Buffer, options: object): Promise<Record<string, never>> }>(
    'mailparser',
  )
  const PostalMime = foreign<{ default: { parse(bytes: Buffer): Promise<Record<string, never>> } }>(
    'postal-mime',
  ).default
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, skipImageLinks: true }
  return {
    ours: async (bytes) => {
      const mail = parseMessage(bytes)
      const part = mail.textPart === null ? undefined : findPart(mail.structure!, mail.textPart)
      const text = part === undefined ? '' : decodeText(bytes.subarray(part.bodyStart, part.bodyEnd), part)
      return { subject: mail.subject, from: mail.from[0]?.email ?? '', files: mail.attachments.length, text }
    },
    'mailparser 3.9.31': async (bytes) => {
      const mail = (await simpleParser(bytes, options)) as unknown as {
        subject?: string
        from?: { value: { address?: string }[] }
        attachments: unknown[]
        text?: string
      }
      const from = mail.from?.value[0]?.address ?? ''
      return { subject: mail.subject ?? '', from, files: mail.attachments.length, text: mail.text ?? '' }
    },
    'postal-mime 4.0.0': async (bytes) => {
      const mail = (await PostalMime.parse(bytes)) as unknown as {
        subject?: string
        from?: { address?: string }
        attachments: unknown[]
        text?: string
      }
      const from = mail.from?.address ?? ''
      return { subject: mail.subject ?? '', from, files: mail.attachments.length, text: mail.text ?? '' }
    },
  }
}

interface Oracle {
  attachments: number[]
  text_body: number[]
  parts: {
    headers: { name: unknown; value: { Text?: string; Address?: { List?: { address: string | null }[] } } }[]
    body: { Text?: string }
  }[]
}

const LINE = /\r\n/g

/** How many of the messages of mime/mail-parser are read as its oracle says: subject, author, number of attachments, first text. */
async function agreement(read: Reader): Promise<string> {
  const names = fixtureNames('mime/mail-parser', '.eml').map((file) => file.slice(0, -4))
  const counts = [0, 0, 0, 0]
  for (const name of names) {
    const oracle = fixtureJson<Oracle>(`mime/mail-parser/${name}.json`)
    const value = (field: string) => oracle.parts[0]!.headers.find((header) => header.name === field)?.value
    const found = await read(fixtureBytes(`mime/mail-parser/${name}.eml`)).catch(() => null)
    if (found === null) continue
    const text = oracle.parts[oracle.text_body[0] ?? -1]?.body.Text ?? ''
    if (found.subject === (value('subject')?.Text ?? '')) counts[0]!++
    if (found.from === (value('from')?.Address?.List?.[0]?.address ?? '')) counts[1]!++
    if (found.files === oracle.attachments.length) counts[2]!++
    if (found.text.replace(LINE, '\n').trim() === text.replace(LINE, '\n').trim()) counts[3]!++
  }
  return `${counts.join('/')} of ${names.length}`
}

const HOSTILE: Record<string, () => Buffer> = {
  '50,000 parts': () =>
    Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(50_000)}--b--\r\n`),
  '20,000 levels': () => {
    const level = (n: number) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`
    return Buffer.from(Array.from({ length: 20_000 }, (_, n) => level(n)).join(''))
  },
  '200,000 addresses': () => Buffer.from(`To: ${'a@b.example, '.repeat(200_000)}\r\n\r\nx`),
  '100,000 encoded words': () => Buffer.from(`Subject: ${'=?utf-8?q?a?=\r\n '.repeat(100_000)}\r\n\r\nx`),
}

/** Prints a row for each reader. */
export async function compareReaders(): Promise<void> {
  const folders = ['mime', 'corpus', 'bounces', 'threading', 'clean-content']
  const names = folders.flatMap((folder) =>
    fixtureNames(folder)
      .filter((name) => /\.(?:eml|msg|txt)$/.test(name))
      .map((name) => `${folder}/${name}`),
  )
  const messages = names.map(fixtureBytes)
  const bytes = messages.reduce((sum, { length }) => sum + length, 0)
  const rows: string[][] = []
  for (const [name, read] of Object.entries(readers())) {
    const all = async () => {
      for (const message of messages) await read(message).catch(() => null)
    }
    await all()
    const ms = quantile([await timed(all), await timed(all), await timed(all)], 0.5)
    const hostile: string[] = []
    for (const make of Object.values(HOSTILE)) {
      const message = make()
      let failed = ''
      const took = await timed(() =>
        read(message).catch(() => {
          failed = ' (fails)'
        }),
      )
      hostile.push(`${short(took)} ms${failed}`)
    }
    rows.push([name, short((messages.length / ms) * 1000), short(bytes / 1000 / ms), await agreement(read), ...hostile])
  }
  const head = ['MIME reader', 'messages/s', 'MB/s', 'subject/from/files/text', ...Object.keys(HOSTILE)]
  printTable(`${messages.length} messages of the vectors`, head, rows)
}
