// Certificates that are obtained by ACME, for the operator.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import type { CertificateStatus } from '../../certificates/certificates.ts'
import { CERTIFICATE_STATES } from '../../certificates/records.ts'
import { route } from '../../http/route.ts'
import { Default, Nullable, Words } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from '../schemas/time.ts'

const Certificate = record('Certificate', 'A certificate, and its next step.', {
  name: Type.String({ description: 'The first of its names.' }),
  names: Type.Array(Type.String(), { description: 'Those it is wanted for.' }),
  served_names: Type.Array(Type.String(), { description: 'Those of the version in use; none without one.' }),
  kind: Words(['host', 'web'], 'host: of the mail listeners, and the default of HTTPS; web: of one name of HTTPS.'),
  state: Words(
    [...CERTIFICATE_STATES],
    'absent: an order is to be placed; ordered: its names are being proved; validated: it is being issued; issued: it is being tried; ' +
      'proven: in use; due: in use, and a renewal is to be ordered.',
  ),
  valid_until: TimeOrNull('Of the version in use; null without one.'),
  renewal_at: TimeOrNull('When the renewal is ordered; null without a version in use.'),
  next_step_at: TimeOf('When the next step is due.'),
  failures: Type.Integer({ minimum: 0, description: 'Failures in a row.' }),
  reason: Nullable(Type.String({ description: 'Why the next step waits, in one sentence; null while all goes well.' })),
  explanation_url: Nullable(
    Type.String({ description: 'A page of the authority about the date of the renewal (RFC 9773); null without.' }),
  ),
})

const listCertificates = route({
  method: 'GET',
  surface: 'operator',
  path: '/certificates',
  docs: {
    operation: 'listCertificates',
    tag: 'Service',
    summary: 'List the certificates that are obtained by ACME',
    description: 'For alarms: an expired certificate ends every encrypted connection.',
  },
  access: { as: 'operator' },
  reply: {
    schema: record('Certificates', 'All certificates.', {
      is_on: Type.Boolean({ description: 'Whether certificates are obtained (`ACME`).' }),
      certificates: Type.Array(Certificate),
    }),
  },
  handle: ({ app: { certificates } }) => ({
    is_on: certificates.isOn,
    certificates: certificates.isOn ? certificates.list().map(present) : [],
  }),
})

const renewCertificate = route({
  method: 'POST',
  surface: 'operator',
  path: '/certificates/{name}/renew',
  docs: {
    operation: 'renewCertificate',
    tag: 'Service',
    summary: 'Order a new version of a certificate now',
    description: 'Ends the pause after a failure. The limits of the authority are kept. 409 while `ACME` is off.',
    errors: ['conflict'],
  },
  access: { as: 'operator' },
  params: Type.Object({ name: Type.String({ maxLength: 253, description: 'The first of its names.' }) }),
  body: {
    schema: record(
      'CertificateRenewal',
      'How it is renewed.',
      {
        new_key: Default(Type.Boolean({ description: 'With another key.' }), false),
        revoke: Default(
          Type.Boolean({
            description:
              'With another key; the version in use is revoked when the new one is in use: its key is known to others.',
          }),
          false,
        ),
      },
      { new_key: false },
    ),
    optional: true,
  },
  limits: { throttle: { times: 6, seconds: 60 } },
  reply: { schema: Certificate },
  async handle({ params, body, app }) {
    const options = { newKey: body.new_key ?? false, revoke: body.revoke ?? false }
    return present(await app.certificates.renew(params.name, options))
  },
})

function present(one: CertificateStatus): Static<typeof Certificate> {
  const { name, names, kind, state, failures, reason, served, dueAt, lookAt, ariUrl } = one
  return {
    ...{ name, names, kind, state, failures, reason },
    served_names: served?.names ?? [],
    valid_until: isoTimeOrNull(served?.notAfter ?? null),
    renewal_at: isoTimeOrNull(dueAt),
    next_step_at: isoTime(lookAt),
    explanation_url: ariUrl,
  }
}

export const operatorCertificates = [listCertificates, renewCertificate]
