// Messages of our own, and those of the fixtures where they are, imported: none is lost or stops anything, and each is returned byte for byte.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { data, issues } from '../api/expect.ts'
import { some } from '../support/amount.ts'
import { startAppliance } from '../support/appliance.ts'
import { type ForeignMessage, SUITES } from '../support/foreign.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')

const AT_ONCE = 4

/** RFC 5322 2.2: a mail begins with a field. */
const isMail = (content: Buffer) => /^(?:From |>?[!-9;-~]+[ \t]*:)/.test(content.toString('latin1', 0, 1000))

/** Messages of a suite, unless all of them run. */
const OF_A_SUITE = 150

for (const [suite, mails] of SUITES) {
  test(`${suite}: none is lost`, async () => {
    const box = await team.mailbox(`${suite}@shop.test`)
    const foreign = some(mails(), OF_A_SUITE)
    assert.ok(foreign.length > 50, `${foreign.length} messages`)
    const known = new Map<string, string>()
    const take = async ({ name, content }: ForeignMessage) => {
      const raw = content.toString('base64')
      const reply = await appliance.call('POST', '/mailbox/messages/import', box.key, { raw })
      if (!isMail(content)) return issues(reply, 422, 'validation_error', ['raw invalid_format'])
      assert.ok([200, 201].includes(reply.status), `${name}: ${JSON.stringify(reply.body)}`)
      const { id } = data<MessageSummaryJson>(reply, reply.status)
      if (reply.status === 200) assert.equal(known.get(raw) ?? id, id, name)
      known.set(raw, id)
      assert.ok(content.equals(await rawOf(id, box.key)), name)
      data<Message>(
        await appliance.get(`/mailbox/messages/${id}?include=headers,text_body,html_body,attachments`, box.key),
      )
    }
    const waiting = foreign.values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const mail of waiting) await take(mail)
      }),
    )
    assert.equal(new Set(known.values()).size, known.size)
    const account = appliance.app.store.accounts.byMailbox(box.id)!
    assert.equal(account.messageCount, known.size)
    assert.equal(
      known.size,
      new Set(foreign.filter(({ content }) => isMail(content)).map(({ content }) => content.toString('latin1'))).size,
    )
  })
}

async function rawOf(id: string, key: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${key}`, accept: 'message/rfc822' }
  const response = await fetch(`${appliance.origin}/api/v1/mailbox/messages/${id}/raw`, { headers })
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}
