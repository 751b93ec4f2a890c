// The documents mail programs are set up by, as their readers see them: well-formed, complete, foreign text escaped.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import type { ClientListener } from '../../../src/config/client-listeners.ts'
import { type Config, settings } from '../../../src/config/config.ts'
import { appleProfile } from '../../../src/pages/apple-profile.ts'
import { clientConfig } from '../../../src/pages/autoconfig.ts'
import { outlookSettings, readAutodiscover } from '../../../src/pages/autodiscover.ts'

/** Any listeners, also those this version does not serve. */
function configOf(...served: ClientListener[]): Config {
  const defaults = Object.fromEntries(
    Object.entries(settings).map(([name, schema]) => [name, (schema as { default?: unknown }).default]),
  )
  const names = {
    MAIL_HOSTS: ['mx.mail.example'],
    CLIENT_HOST: 'imap.mail.example',
    APP_ORIGIN: 'https://app.mail.example',
  }
  const ports = { CLIENT_PUBLIC_PORTS: [1993, 1143, 1465, 1587, 14190] }
  return { ...defaults, ...names, ...ports, CLIENT_PROTOCOLS: served } as unknown as Config
}

const ALL = configOf('imaps', 'imap', 'submissions', 'submission', 'managesieve')

/** What Python's parsers make of a document: `plistlib`, or the tree of an XML file with its namespaces. */
function parsed(code: string, text: string): unknown {
  const run = spawnSync('/usr/bin/python3', ['-c', `import sys, json\n${code}`], { input: text, encoding: 'utf8' })
  assert.equal(run.status, 0, run.stderr)
  return JSON.parse(run.stdout)
}
const plistOf = (text: string) =>
  parsed('import plistlib; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))', text) as Record<string, never>
const treeOf = (text: string) =>
  parsed(
    'import xml.etree.ElementTree as e\ndef t(n): return [n.tag, n.attrib, (n.text or "").strip(), [t(c) for c in n]]\nprint(json.dumps(t(e.fromstring(sys.stdin.buffer.read()))))',
    text,
  ) as Element

type Element = [tag: string, attributes: Record<string, string>, text: string, children: Element[]]

function children(element: Element, ...path: string[]): Element[] {
  const [first, ...rest] = path
  const found = element[3].filter(([tag]) => tag.replace(/^\{[^}]*\}/, '') === first)
  return rest.length === 0 ? found : found.flatMap((one) => children(one, ...rest))
}

const textsOf = (element: Element) =>
  Object.fromEntries(element[3].map(([tag, , text]) => [tag.replace(/^\{[^}]*\}/, ''), text]))

test('the configuration for Thunderbird lists every listener, the preferred one first', () => {
  const tree = treeOf(clientConfig(ALL, 'shop.example'))
  assert.deepEqual([tree[0], tree[1]], ['clientConfig', { version: '1.1' }])
  const [provider] = children(tree, 'emailProvider')
  assert.deepEqual(provider![1], { id: 'shop.example' })
  assert.equal(children(provider!, 'domain')[0]![2], 'shop.example')
  const expected = (port: string, socketType: string) => ({
    ...{ hostname: 'imap.mail.example', port, socketType },
    ...{ authentication: 'password-cleartext', username: '%EMAILADDRESS%' },
  })
  const incoming = children(provider!, 'incomingServer')
  assert.deepEqual(incoming.map(textsOf), [expected('1993', 'SSL'), expected('1143', 'STARTTLS')])
  const outgoing = children(provider!, 'outgoingServer')
  assert.deepEqual(outgoing.map(textsOf), [expected('1465', 'SSL'), expected('1587', 'STARTTLS')])
  assert.deepEqual([incoming[0]![1], outgoing[0]![1]], [{ type: 'imap' }, { type: 'smtp' }])
  assert.deepEqual(
    children(treeOf(clientConfig(configOf('imap'), 'a.example')), 'emailProvider', 'incomingServer').map(textsOf),
    [expected('1143', 'STARTTLS')],
  )
  assert.throws(() => clientConfig(configOf('submissions'), 'a.example'), { code: 'not_found' })
})

test('the settings for Outlook name the preferred listeners and the whole address', () => {
  const email = `o'neil&"co"<@shop.example`
  const tree = treeOf(outlookSettings(ALL, email))
  assert.equal(tree[0], '{http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006}Autodiscover')
  const [account] = children(tree, 'Response', 'Account')
  assert.equal(account![0], '{http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a}Account')
  assert.deepEqual([textsOf(account!).AccountType, textsOf(account!).Action], ['email', 'settings'])
  const common = {
    Server: 'imap.mail.example',
    LoginName: email,
    DomainRequired: 'off',
    SPA: 'off',
    SSL: 'on',
    AuthRequired: 'on',
  }
  assert.deepEqual(children(account!, 'Protocol').map(textsOf), [
    { ...common, Type: 'IMAP', Port: '1993', Encryption: 'SSL' },
    { ...common, Type: 'SMTP', Port: '1465', Encryption: 'SSL' },
  ])
  const starttls = children(
    treeOf(outlookSettings(configOf('imap', 'submission'), email)),
    'Response',
    'Account',
    'Protocol',
  )
  assert.deepEqual(
    starttls.map(textsOf).map(({ Port, Encryption }) => [Port, Encryption]),
    [
      ['1143', 'TLS'],
      ['1587', 'TLS'],
    ],
  )
})

test('the profile for Apple devices is a property list with both servers and no password', () => {
  const email = 'o&<neil@shop.example'
  const profile = plistOf(appleProfile(ALL, email))
  const [account] = profile.PayloadContent as unknown as Record<string, unknown>[]
  const { PayloadUUID, PayloadIdentifier, ...rest } = account!
  assert.deepEqual(rest, {
    ...{ EmailAccountDescription: email, EmailAccountType: 'EmailTypeIMAP', EmailAddress: email },
    ...{ IncomingMailServerHostName: 'imap.mail.example', IncomingMailServerPortNumber: 1993 },
    ...{
      IncomingMailServerUseSSL: true,
      IncomingMailServerUsername: email,
      IncomingMailServerAuthentication: 'EmailAuthPassword',
    },
    ...{ OutgoingMailServerHostName: 'imap.mail.example', OutgoingMailServerPortNumber: 1465 },
    ...{
      OutgoingMailServerUseSSL: true,
      OutgoingMailServerUsername: email,
      OutgoingMailServerAuthentication: 'EmailAuthPassword',
    },
    ...{ OutgoingPasswordSameAsIncomingPassword: true },
    ...{ PayloadDisplayName: email, PayloadType: 'com.apple.mail.managed', PayloadVersion: 1 },
  })
  assert.equal(profile.PayloadType, 'Configuration')
  assert.match(String(profile.PayloadIdentifier), /^example\.mail\.app\.mailstead\.[0-9a-f]{16}$/)
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/
  for (const one of [PayloadUUID, profile.PayloadUUID]) assert.match(String(one), uuid)
  assert.notEqual(PayloadUUID, profile.PayloadUUID)
  assert.notEqual(PayloadIdentifier, profile.PayloadIdentifier)
  assert.equal(plistOf(appleProfile(ALL, email)).PayloadUUID, profile.PayloadUUID, 'a second one replaces the first')
  assert.notEqual(plistOf(appleProfile(ALL, 'b@shop.example')).PayloadUUID, profile.PayloadUUID)
  assert.throws(() => appleProfile(configOf('imaps'), email), { code: 'not_found' })
})

test('two elements of a request of Outlook are read, nothing else of it', () => {
  const schema = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a'
  const outlook = (email: string) =>
    `<?xml version="1.0"?><Autodiscover><Request><EMailAddress>${email}</EMailAddress><AcceptableResponseSchema>${schema}</AcceptableResponseSchema></Request></Autodiscover>`
  assert.deepEqual(readAutodiscover(outlook(' ana@shop.example\r\n')), { email: 'ana@shop.example', schema })
  assert.equal(readAutodiscover(outlook('a&amp;b&apos;c&lt;@shop.example')).email, "a&b'c<@shop.example")
  assert.equal(readAutodiscover('<a:EMailAddress >ana@x.example</a:EMailAddress>').email, 'ana@x.example')
  // Entities are not declared, repeated or fetched.
  const bomb = `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${outlook('&x;@shop.example')}`
  assert.equal(readAutodiscover(bomb).email, '&x;@shop.example')
  assert.equal(readAutodiscover(outlook(`${'a'.repeat(321)}@x.example`)).email, '')
  assert.deepEqual(readAutodiscover(''), { email: '', schema: '' })
})

test('reading a request of Outlook takes linear time', () => {
  const hostile = [
    `<EMailAddress>${' '.repeat(16_000)}`,
    '<EMailAddress'.repeat(1200),
    `<${'a.'.repeat(8000)}`,
    '<a:EMailAddress>a'.repeat(900),
  ]
  for (const text of hostile) {
    const before = process.cpuUsage()
    for (let times = 0; times < 10; times++) readAutodiscover(text)
    assert.ok(process.cpuUsage(before).user < 500_000, text.slice(0, 30))
  }
})
