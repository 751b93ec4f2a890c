// A sign-in link forwarded to a mailbox here in a form the text search does not find, read by a mailbox key.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { receiveRaw } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { Browser } from '../support/browser.ts'
import { startMailServer } from '../support/mail-server.ts'

const remote = await startMailServer()
const appliance = await startAppliance({
  zone: {
    'people.example': { MX: [{ priority: 10, exchange: 'mx.people.example' }] },
    'mx.people.example': { A: ['127.0.0.1'] },
  },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port), TRUSTED_PROXIES: '127.0.0.1' },
})
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
let n = 0
const source = () => ({ 'x-forwarded-for': `203.0.113.${++n}` })
const attach = (type: string, bytes: Buffer, enc = 'base64') =>
  `From: a@people.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nsee below\r\n--b\r\nContent-Type: ${type}\r\nContent-Disposition: attachment; filename=mail.eml\r\nContent-Transfer-Encoding: ${enc}\r\n\r\n${enc === 'base64' ? bytes.toString('base64').replace(/.{76}/g, '$&\r\n') : bytes.toString('latin1')}\r\n--b--\r\n`
const forms: [string, (mail: Buffer, link: string) => string][] = [
  ['a .eml file as application/octet-stream', (mail) => attach('application/octet-stream', mail)],
  ['message/rfc822 in base64', (mail) => attach('message/rfc822', mail)],
  ['application/octet-stream, 8bit', (mail) => attach('application/octet-stream', mail, '8bit')],
  ['proofpoint v3', (_, link) => `From: a@people.example\r\n\r\nhttps://urldefense.com/v3/__${link}__;!!abc\r\n`],
  [
    'behind 256 KiB of text',
    (_, link) => `From: a@people.example\r\n\r\n${'x'.repeat(70).concat('\r\n').repeat(3800)}${link}\r\n`,
  ],
  [
    'entities',
    (_, link) =>
      `From: a@people.example\r\nContent-Type: text/html\r\n\r\n<a href="${link.replaceAll('/', '&#47;')}">x</a>\r\n`,
  ],
  ['in the subject', (_, link) => `From: a@people.example\r\nSubject: FW: ${link}\r\n\r\nx\r\n`],
  [
    'proofpoint v2',
    (_, link) =>
      `From: a@people.example\r\n\r\nhttps://urldefense.proofpoint.com/v2/url?u=${link
        .replace(/[^A-Za-z0-9./]/g, (one) => `-${one.charCodeAt(0).toString(16).toUpperCase()}`)
        .replaceAll('/', '_')}&d=DwMFaQ\r\n`,
  ],
  [
    'wrapped in a quotation',
    (_, link) =>
      `From: a@people.example\r\n\r\n> Open ${link.slice(0, -20)}\r\n> ${link.slice(-20)}\r\n> to sign in.\r\n`,
  ],
  [
    'a large .eml file with a base64 text',
    (_, link) =>
      attach(
        'application/octet-stream',
        Buffer.from(
          `From: a@people.example\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(
            `${'x'.repeat(300_000)} ${link}`,
          )
            .toString('base64')
            .replace(/.{76}/g, '$&\r\n')}\r\n`,
        ),
      ),
  ],
  [
    'double percent',
    (_, link) =>
      `From: a@people.example\r\n\r\nhttps://safe.example/?u=${encodeURIComponent(encodeURIComponent(link))}\r\n`,
  ],
]
for (const [what, wrap] of forms) {
  test(what, async () => {
    const team = await appliance.team()
    const id = `f${++n}`
    const email = `${id}@people.example`
    await team.domain(`${id}.test`)
    const { email: to } = await team.mailbox(`ana@${id}.test`)
    await appliance.app.db.write((tx) => appliance.app.people.members.add(tx, team.id, { email, role: 'owner' }))
    await new Browser(appliance, source()).post('/owner/sign-in', { email })
    await appliance.settle()
    const mail = remote.messages.findLast((one) => one.to.includes(email))!.bytes
    const path = /\/owner\/session\/[\w-]{43}/.exec(mail.toString().replaceAll('=\r\n', ''))![0]
    assert.equal((await new Browser(appliance, source()).get(path)).status, 200)
    await receiveRaw(appliance, { from: email, to, content: wrap(mail, appliance.origin + path) })
    assert.equal((await new Browser(appliance, source()).get(path)).status, 410)
  })
}
