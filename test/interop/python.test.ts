// Sent messages read by others: Python's email package reads the composed messages, dkimpy verifies their signatures.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { type DkimSigningKey, dkimSignatures } from '../../src/auth/dkim-sign.ts'
import { compose } from '../../src/mime/compose/compose.ts'
import type { Address } from '../../src/mime/message.ts'
import { ed25519Key, rsaKey, type SigningKey } from '../support/dkim.ts'
import { asRead, draft, randomDraft } from '../support/drafts.ts'
import { missingProgram } from '../support/programs.ts'
import { askPython, PYTHON } from '../support/python.ts'
import { Random } from '../support/random.ts'

const MAILS = 120
const NO_PYTHON = missingProgram(PYTHON)
const NO_DKIMPY = missingProgram(PYTHON, ['-c', 'import dkim, nacl'], 'dkimpy (python3-dkim)')

const READ = String.raw`
import sys, json, email, email.policy, email.header, email.utils, hashlib
# The newer parser of addresses sets a space between the encoded words of a name (RFC 2047 6.2 has none); the older one does not.
def people(mail, name):
    field = mail.get(name)
    pairs = [] if field is None else email.utils.getaddresses([field.replace('\r\n', '').replace('\n', '')])
    return [[address, str(email.header.make_header(email.header.decode_header(person)))] for person, address in pairs]
def read(path):
    with open(path, 'rb') as file:
        content = file.read()
    old = email.message_from_bytes(content)
    mail = email.message_from_bytes(content, policy=email.policy.default)
    text, html, files, defects = None, None, [], []
    for part in mail.walk():
        defects += [type(one).__name__ for one in part.defects]
        if part.get_content_maintype() == 'multipart':
            continue
        if part.get_filename() is not None:
            content = part.get_payload(decode=True)
            files.append([part.get_filename(), hashlib.sha256(content or b'').hexdigest(), part['content-id']])
        elif part.get_content_type() == 'text/html':
            html = part.get_content()
        else:
            text = part.get_content()
    return {
        'subject': mail['subject'], 'from': people(old, 'from'), 'to': people(old, 'to'), 'cc': people(old, 'cc'),
        'replyTo': people(old, 'reply-to'), 'messageId': mail['message-id'], 'date': mail['date'].datetime.timestamp(),
        'bcc': mail['bcc'], 'text': text, 'html': html, 'files': files, 'defects': defects,
    }
print(json.dumps([read(path) for path in sys.argv[1:]]))
`

interface Read {
  subject: string
  from: [string, string][]
  to: [string, string][]
  cc: [string, string][]
  replyTo: [string, string][]
  messageId: string
  date: number
  bcc: null
  text: string | null
  html: string | null
  files: [string, string, string | null][]
  defects: string[]
}

const pairs = (addresses: readonly Address[]) => addresses.map(({ email, name }) => [email, name])

describe("Python's email package", { skip: NO_PYTHON }, () => {
  it('reads every message as composed', async () => {
    const drafts = Array.from({ length: MAILS }, (_, index) => randomDraft(new Random(1000 + index)))
    const found = await askPython<Read[]>(
      READ,
      drafts.map((one) => compose(one).bytes),
    )
    for (const [index, wanted] of drafts.entries()) {
      const read = found[index]!
      const where = `seed ${1000 + index}`
      assert.deepEqual(read.defects, [], where)
      assert.equal(read.subject, wanted.subject, where)
      for (const name of ['to', 'cc', 'replyTo'] as const) assert.deepEqual(read[name], pairs(wanted[name]), where)
      assert.deepEqual(read.from, pairs([wanted.from]), where)
      assert.equal(read.messageId, `<${wanted.messageId}>`, where)
      assert.equal(read.date * 1000, wanted.date, where)
      assert.equal(read.bcc, null, where)
      const end = (text: string | null) => (text === null ? null : asRead(text).replace(/\n$/, ''))
      if (wanted.textBody !== null) assert.equal(end(read.text), end(wanted.textBody), where)
      assert.equal(end(read.html), end(wanted.htmlBody), where)
      const files = wanted.attachments.map(({ filename, content, contentId }) => [
        filename,
        createHash('sha256').update(content).digest('hex'),
        contentId === null ? null : `<${contentId}>`,
      ])
      assert.deepEqual(read.files.sort(), files.sort(), where)
    }
  })
})

const VERIFY = String.raw`
import sys, json, dkim
records = json.loads(RECORDS)
def answer(name, timeout=5):
    return records.get(name.decode().rstrip('.'), '').encode()
def verify(path):
    with open(path, 'rb') as file:
        mail = file.read()
    results = []
    for index in range(mail.split(b'\r\n\r\n')[0].count(b'DKIM-Signature:')):
        try:
            results.append(dkim.DKIM(mail).verify(idx=index, dnsfunc=answer))
        except dkim.DKIMException as error:
            results.append(str(error))
    return results
print(json.dumps([verify(path) for path in sys.argv[1:]]))
`

describe('dkimpy', { skip: NO_DKIMPY }, () => {
  const rsa = rsaKey()
  const ed25519 = ed25519Key()
  const key = (selector: string, { algorithm, privateKey }: SigningKey) =>
    ({ domain: 'shop.test', selector, algorithm, privateKey }) as DkimSigningKey
  const keys = [key('s1', rsa), key('s2', ed25519)]
  const records = { 's1._domainkey.shop.test': rsa.record, 's2._domainkey.shop.test': ed25519.record }

  async function signed(mail: Buffer): Promise<Buffer> {
    return Buffer.concat([Buffer.from(await dkimSignatures(mail, keys, Date.UTC(2025, 0, 1))), mail])
  }

  /** The signature results of each message. */
  const verify = (mails: Buffer[]) =>
    askPython<(boolean | string)[][]>(VERIFY.replace('RECORDS', JSON.stringify(JSON.stringify(records))), mails)

  it('verifies both signatures of every message', async () => {
    const mails = Array.from({ length: 40 }, (_, index) => compose(randomDraft(new Random(2000 + index))).bytes)
    const lists = [{ name: 'List-Unsubscribe', value: '<https://shop.test/u/1>' }]
    mails.push(compose(draft({ headers: [...lists, { name: 'X-A', value: 'not signed' }] })).bytes)
    for (const [index, results] of (await verify(await Promise.all(mails.map(signed)))).entries()) {
      assert.deepEqual(results, [true, true], `mail ${index}`)
    }
  })

  it('detects every modification', async () => {
    const mail = await signed(compose(draft({ headers: [{ name: 'List-Id', value: '<l.shop.test>' }] })).bytes)
    const text = mail.toString('latin1')
    const changed = [
      text.replace('Thank you', 'Thank me'),
      text.replace('Subject: Your', 'Subject: My'),
      text.replace('<l.shop.test>', '<other>'),
      `From: Eve <eve@evil.test>\r\n${text}`,
      `Subject: another\r\n${text}`,
      `Reply-To: eve@evil.test\r\n${text}`,
      `Content-Type: text/html\r\n${text}`,
      `${text}more\r\n`,
    ]
    const untouched = [
      text,
      `Received: from a by b\r\n${text}`,
      `${text}\r\n`,
      text.replace('Subject: Your ', 'subject:  Your\r\n '),
    ]
    const results = await verify([...changed, ...untouched].map((one) => Buffer.from(one, 'latin1')))
    for (const [index, found] of results.entries()) {
      assert.equal(found.length, 2)
      const passed = found.every((result) => result === true)
      const failed = found.every((result) => result !== true)
      assert.ok(index < changed.length ? failed : passed, `mail ${index}: ${JSON.stringify(found)}`)
    }
  })
})
