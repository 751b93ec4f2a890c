// SMTP servers of outside accounts that are signed in to with access tokens (XOAUTH2).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MailTokenAnswer } from '../../../../src/outbound/model/deps.ts'
import { handover, openAccount, shortOutcomes, wordsOf } from '../../../support/carriers.ts'
import { startScript } from '../../../support/mail-server.ts'

const TOKEN = 'ya29.secret-token'

async function send(smtpPort: number, answer: MailTokenAnswer = { kind: 'given', token: TOKEN }) {
  const asked: string[] = []
  const mailTokens = {
    async of(id: string) {
      asked.push(id)
      return answer
    },
  }
  const settings = { smtpPort, smtpProtocol: 'none', smtpUsername: 'ana@x.test', hasSmtpPassword: false } as const
  const account = openAccount({ ...settings, remoteAccountId: 'racc_1' }, { mailTokens })
  try {
    return { handed: await account.hand(handover()), asked }
  } finally {
    await account.close()
  }
}

test('the token of the account is sent, and no password', async () => {
  await using server = await startScript((peer) =>
    peer.talk({ EHLO: '250-mx.script.test\r\n250 AUTH PLAIN LOGIN XOAUTH2', AUTH: '235 2.7.0 Accepted' }),
  )
  const { handed, asked } = await send(server.port)
  assert.deepEqual(shortOutcomes(handed), ['sent'])
  assert.deepEqual(asked, ['racc_1'])
  const said = server.heard.find((line) => line.startsWith('AUTH '))!
  assert.equal(Buffer.from(said.split(' ')[2]!, 'base64').toString(), `user=ana@x.test\x01auth=Bearer ${TOKEN}\x01\x01`)
})

test('a refusal that comes as a challenge is ended with an empty line, and does not show the token', async () => {
  const sent = Buffer.from(`user=ana@x.test\x01auth=Bearer ${TOKEN}\x01\x01`).toString('base64')
  await using server = await startScript((peer) =>
    peer.talk({
      EHLO: '250-mx.script.test\r\n250 AUTH XOAUTH2',
      AUTH: '334 eyJzdGF0dXMiOiI0MDAifQ==',
      '': `535 5.7.8 Not accepted: ${sent} ${TOKEN}`,
    }),
  )
  const { handed } = await send(server.port)
  assert.match(shortOutcomes(handed)[0]!, /^unavailable auth/)
  assert.match(wordsOf(handed), /Not accepted: \*\*\* \*\*\*/)
})

test('without a token nothing is sent to the server; without the mechanism no password is tried', async () => {
  await using server = await startScript((peer) => peer.talk({ EHLO: '250-mx.script.test\r\n250 AUTH PLAIN LOGIN' }))
  const { handed } = await send(server.port, {
    kind: 'refused',
    text: 'The consent was withdrawn: connect the account again.',
  })
  assert.match(shortOutcomes(handed)[0]!, /^unavailable auth/)
  assert.equal(wordsOf(handed), 'The consent was withdrawn: connect the account again.')
  assert.equal(server.heard.length, 0)
  await send(server.port)
  assert.ok(
    server.heard.every((line) => !line.startsWith('AUTH')),
    server.heard.join('; '),
  )
})
