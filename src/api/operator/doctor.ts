// The checks of `mailstead doctor`, for the operator.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { route } from '../../http/route.ts'
import { Default, Nullable, Words } from '../../http/schema.ts'
import type { Examination } from '../../maintenance/doctor/doctor.ts'
import { CHECKS, pageOf, REMEDY_PAGES } from '../../maintenance/doctor/finding.ts'
import { record } from '../schemas/record.ts'
import { TimeOrNull } from '../schemas/time.ts'

const Count = Type.Integer({ minimum: 0 })

const Health = record('ApplianceHealth', 'What the checks found.', {
  checked_at: TimeOrNull('When the checks ended; null while there was no run since the start.'),
  outside: Type.Boolean({ description: 'Whether they also connected from outside.' }),
  healthy: Nullable(Type.Boolean({ description: 'Whether no check failed; null without a run.' })),
  counts: record('ApplianceHealthCounts', 'How many checks ended so.', { ok: Count, warn: Count, fail: Count }),
  findings: Type.Array(
    record('ApplianceHealthFinding', 'What one check found.', {
      check: Type.String({
        description: 'What was checked, such as `disk`, `tls` or `domain`; several findings may share it.',
      }),
      title: Type.String({ description: 'The check in words, such as `Certificate`.' }),
      status: Words(['ok', 'warn', 'fail']),
      sentence: Type.String({ description: 'What was found, in one sentence.' }),
      remedy: Nullable(Type.String({ description: 'What to do; null when there is nothing to do.' })),
      command: Nullable(Type.String({ description: 'The command that mends it or shows more; null without one.' })),
      page: Nullable(Words([...REMEDY_PAGES], 'The page of the operator on which it is mended; null without one.')),
    }),
  ),
})

const readDoctor = route({
  method: 'GET',
  surface: 'operator',
  path: '/doctor',
  docs: {
    operation: 'getApplianceHealth',
    tag: 'Service',
    summary: 'Get what the last run of the checks found',
    description: '`testApplianceHealth` runs the checks again.',
  },
  access: { as: 'operator' },
  reply: { schema: Health },
  handle: ({ app }) => presentHealth(app.maintenance.doctor.last),
})

const runDoctor = route({
  method: 'POST',
  surface: 'operator',
  path: '/doctor',
  docs: {
    operation: 'testApplianceHealth',
    tag: 'Service',
    summary: 'Run the checks of `mailstead doctor`',
    description:
      'Checks settings, disk, clock, certificate, ports, DNS, domains, sending accounts and what is overdue; groups that need the network ' +
      'end after 20 seconds with a warning. A request during a run gets its result. The databases are read from end to end only by ' +
      '`mailstead doctor --deep`.',
  },
  access: { as: 'operator', audited: false },
  body: {
    schema: record(
      'ApplianceHealthTest',
      'Which checks run.',
      {
        outside: Default(
          Type.Boolean({
            description:
              'Also connect to this machine by its public names, as mail servers and mail programs do, and to a large mail service.',
          }),
          false,
        ),
      },
      { outside: false },
    ),
    optional: true,
  },
  limits: { throttle: { times: 6, seconds: 60 } },
  reply: { schema: Health },
  async handle({ body, app }) {
    return presentHealth(await app.maintenance.doctor.run(body.outside ?? false))
  },
})

function presentHealth(last: Examination | null): Static<typeof Health> {
  const findings = (last?.findings ?? []).map((finding) => {
    const { check, level, says, do: remedy, command } = finding
    const { title } = CHECKS[check]
    return { check, title, status: level, sentence: says, remedy, command, page: pageOf(finding) }
  })
  const count = (status: string) => findings.filter((one) => one.status === status).length
  const counts = { ok: count('ok'), warn: count('warn'), fail: count('fail') }
  return {
    checked_at: last === null ? null : isoTime(last.at),
    outside: last?.outside ?? false,
    healthy: last === null ? null : counts.fail === 0,
    counts,
    findings,
  }
}

export const operatorDoctor = [readDoctor, runDoctor]
