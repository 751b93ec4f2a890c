// What may be said of a sending account, and the one form in which it is kept.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Provider } from '../../../src/outbound/model/records.ts'
import {
  checkChange,
  mergeQuotas,
  NO_QUOTAS,
  type ProviderChange,
  refuseOtherServer,
} from '../../../src/outbound/providers/input.ts'
import { failure } from '../../support/directory.ts'

function refused(change: ProviderChange, field: string, code: string, allowPrivate = false): void {
  const wrong = failure('validation_error', { field, code })
  assert.throws(() => checkChange(change, allowPrivate), wrong, JSON.stringify(change))
}

test('caps are changed one by one', () => {
  const before = mergeQuotas(NO_QUOTAS, { perMinute: 5, perDay: { min: 7, max: 9 } })
  assert.deepEqual(before, { ...NO_QUOTAS, perMinute: { min: 5, max: 5 }, perDay: { min: 7, max: 9 } })
  assert.deepEqual(mergeQuotas(before, { perDay: null }), { ...NO_QUOTAS, perMinute: { min: 5, max: 5 } })
  assert.deepEqual(mergeQuotas(before), before)
  assert.throws(
    () => mergeQuotas(before, { perHour: { min: 2, max: 1 } }),
    failure('validation_error', { field: 'quotas.per_hour.min', code: 'too_big' }),
  )
})

test('a host is kept in one form', () => {
  const host = (smtpHost: string) => checkChange({ smtpHost }, false).smtpHost
  assert.deepEqual(['SMTP.Relay.test.', '[2606:4700::1111]', '1.1.1.1', 'relay'].map(host), [
    'smtp.relay.test',
    '2606:4700::1111',
    '1.1.1.1',
    'relay',
  ])
})

test('hosts inside are named by no disguise, unless the operator allows them', () => {
  const inside = ['127.0.0.1', '10.1.2.3', '169.254.1.1', '100.64.0.1', '::1', '::ffff:10.0.0.1', 'fe80::1', 'fc00::1']
  const disguised = ['64:ff9b::a00:1', '2002:a00:1::', '0.0.0.0', '::', 'localhost', 'mail.localhost']
  for (const smtpHost of [...inside, ...disguised]) {
    refused({ smtpHost }, 'smtp_host', 'forbidden_value')
    assert.equal(checkChange({ smtpHost }, true).smtpHost, smtpHost)
  }
  refused({ smtpHost: '[::1]' }, 'smtp_host', 'forbidden_value')
})

test('what a resolver might take for an address is no name, whatever is allowed', () => {
  const numbers = ['2130706433', '0x7f000001', '0x7f.1', '127.1', '0177.0.0.1', 'a.0x', '1.2.3.4.5']
  for (const smtpHost of [...numbers, 'a b', 'a..b', '-a.test', 'a_.', '', 'x'.repeat(64), 'ü.test', 'a/b', 'a:25']) {
    refused({ smtpHost }, 'smtp_host', 'invalid_format', true)
  }
})

test('no text carries a line break into a dialogue or a mail', () => {
  for (const text of ['a\r\nRCPT TO:<x@y.test>', 'a\nb', 'a\rb', 'a\0b']) {
    refused({ smtpUsername: text }, 'smtp_username', 'invalid_format')
    refused({ smtpPassword: text }, 'smtp_password', 'invalid_format')
    refused({ name: text }, 'name', 'invalid_format')
    refused({ fromName: text }, 'from_name', 'invalid_format')
    refused({ replyToName: text }, 'reply_to_name', 'invalid_format')
    refused({ fromEmail: `${text}@shop.test` }, 'from_email', 'invalid_format')
    refused({ trackingDomain: text }, 'tracking_domain', 'invalid_format')
  }
})

test('addresses and tracking hosts keep to a strict form; null takes them away', () => {
  for (const email of ['a@b@c.test', 'a@b.test, c@d.test', 'Ann <a@b.test>', '"a@b"@c.test', 'a@[1.2.3.4]', 'a@host']) {
    refused({ fromEmail: email }, 'from_email', 'invalid_format')
    refused({ replyToEmail: email }, 'reply_to_email', 'invalid_format')
  }
  for (const trackingDomain of ['host', 'a b.test', 'https://a.test', 'a.test/', '']) {
    refused({ trackingDomain }, 'tracking_domain', 'invalid_format')
  }
  const change = { fromEmail: 'Ann@SHOP.Test', replyToEmail: null, trackingDomain: 'T.Shop.Test' }
  const kept = { fromEmail: 'Ann@shop.test', replyToEmail: null, trackingDomain: 't.shop.test' }
  assert.deepEqual(checkChange(change, false), kept)
})

test('a stored password is not sent without TLS', () => {
  const secured = { hasSmtpPassword: true, smtpProtocol: 'starttls' } as Provider
  const wrong = failure('validation_error', { field: 'smtp_password', code: 'required' })
  assert.throws(() => refuseOtherServer({ smtpProtocol: 'none' }, secured), wrong)
  refuseOtherServer({ smtpProtocol: 'none', smtpPassword: 'new' }, secured)
  refuseOtherServer({ smtpProtocol: 'ssl' }, secured)
  refuseOtherServer({ smtpProtocol: 'none' }, { ...secured, smtpProtocol: 'none' })
})
