// THREAD and SORT beside Dovecot, over messages of real lists.

import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type SortKey, type SortMessage, sentDate, sortedRows, sortValues } from '../../src/imap/search/sort.ts'
import { type ThreadMessage, threadByOrderedSubject, threadByReferences } from '../../src/imap/search/thread.ts'
import { envelopeFields } from '../../src/mime/envelope.ts'
import { headerKeys } from '../../src/mime/header-keys.ts'
import { readHeaders } from '../../src/mime/headers.ts'
import { type Dovecot, dovecotMissing, FIRST_RECEIVED, readValues, startDovecot } from '../support/dovecot.ts'
import { fixtureBytes, fixtureNames, fixturesMissing } from '../support/fixtures.ts'

const KEYS: SortKey[] = ['subject', 'from', 'to', 'cc', 'date', 'arrival', 'size', 'displayfrom', 'displayto']

/** The messages of an mbox file, or one message. */
function messagesOf(bytes: Buffer): Buffer[] {
  const text = bytes.toString('latin1')
  if (!text.startsWith('From ')) return [bytes]
  return text
    .split(/^From .*\r?\n/m)
    .filter((message) => message.trim() !== '')
    .map((message) => Buffer.from(message, 'latin1'))
}

function described(bytes: Uint8Array, at: number): SortMessage & { number: number } & ThreadMessage {
  const { fields } = readHeaders(bytes)
  const envelope = envelopeFields(fields)
  const receivedAt = (FIRST_RECEIVED + at) * 1000
  const { subject, threadIds } = headerKeys(fields)
  return {
    ...{ number: at + 1, receivedAt, sizeBytes: 0, fields: envelope, date: sentDate(envelope, receivedAt) },
    ...{ subject: subject.key, isReply: subject.isReply, threadIds },
  }
}

for (const family of ['threading/jwz-messages', 'threading/ponymail']) {
  suite(family, { skip: dovecotMissing() || fixturesMissing(family) }, () => {
    let dovecot: Dovecot
    let messages: (SortMessage & ThreadMessage)[]

    before(async () => {
      const files = fixtureNames(family).map((name) => fixtureBytes(`${family}/${name}`))
      const bytes = files.flatMap(messagesOf)
      assert.ok(bytes.length > 50, `${bytes.length} messages`)
      messages = bytes.map(described)
      dovecot = await startDovecot(bytes)
      const sizes = await dovecot.fetch('1:*', 'RFC822.SIZE')
      for (const [at, message] of messages.entries()) message.sizeBytes = Number(sizes[at]!.get('RFC822.SIZE'))
    })
    after(() => dovecot?.[Symbol.dispose]())

    async function answer(command: string): Promise<unknown[]> {
      const responses = await dovecot.run(command)
      return responses.find(([name]) => command.startsWith(name as string))!.slice(1)
    }

    test('THREAD', async () => {
      for (const [name, thread] of [
        ['REFERENCES', threadByReferences],
        ['ORDEREDSUBJECT', threadByOrderedSubject],
      ] as const) {
        const ours = readValues(Buffer.from(thread(messages)))
        assert.deepEqual(ours, await answer(`THREAD ${name} UTF-8 ALL`), name)
      }
    })

    test('SORT', async () => {
      // "a@b@c": the local part is "a@b" for us, "a" for Dovecot.
      const unclear = new Set(
        messages.filter(({ fields }) => /@\S+@/.test(fields.from ?? '')).map(({ number }) => `${number}`),
      )
      const isClear = (number: unknown) => !unclear.has(number as string)
      assert.ok(unclear.size < 3)
      for (const key of KEYS) {
        for (const isReverse of [false, true]) {
          const by = [{ key, isReverse }]
          const rows = messages.map((message) => ({ ...message, modSeq: 1, values: sortValues(by, message) }))
          const theirs = await answer(`SORT (${isReverse ? 'REVERSE ' : ''}${key.toUpperCase()}) UTF-8 ALL`)
          assert.deepEqual(
            sortedRows(rows, by)
              .map(({ number }) => String(number))
              .filter(isClear),
            theirs.filter(isClear),
            key,
          )
        }
      }
    })
  })
}
