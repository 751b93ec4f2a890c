// One row of the inbound log, opened: what was decided, and each check with the facts it rests on.

import type { ComponentChildren } from 'preact'
import { take } from '../../api/client.ts'
import type { InboundLogDetail } from '../../api/types.ts'
import { count, size } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import type { Tone } from '../../parts/icon.tsx'
import { Badge } from '../../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { inbound as words } from '../../words/en/inbound.ts'
import { useTeam } from '../team.ts'
import { AcceptSender } from './accept-sender.tsx'
import { LetInButton } from './let-in.tsx'
import { NotJunk, OpenMessage } from './stored-message.tsx'

type Evidence = InboundLogDetail['evidence']

export function InboundDetail({ id }: { id: string }) {
  const team = useTeam()
  const { data, error, refetch } = useQuery([team.id, 'inbound', 'one', id], () =>
    take(team.api.GET('/inbound/logs/{log_id}', { params: { path: { log_id: id } } })),
  )
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  if (data === undefined) return <Skeleton rows={4} />
  return (
    <div class="card">
      <div class="card-part delivery-head row wide wrap">
        <div class="measure">
          <h2 class="sub">{words.headline[data.status]}</h2>
          {data.reason !== null && <p>{words.reasons[data.reason]}</p>}
        </div>
        <div class="row end wrap">
          <LetInButton row={data} />
          <NotJunk row={data} />
          <AcceptSender row={data} />
          <OpenMessage row={data} />
        </div>
      </div>
      <div class="delivery-parts">
        <section>
          <h3 class="small soft">{words.evidence}</h3>
          <Checks evidence={data.evidence} />
        </section>
        <Server row={data} />
      </div>
      <div class="card-part delivery-head">
        <RawJson record={data} />
      </div>
    </div>
  )
}

interface CheckRow {
  name: string
  result: string
  tone: Tone
  /** In a sentence. */
  detail: string
  /** What the check itself says. */
  reason?: string
}

const toneOf = (result: string): Tone =>
  result === 'pass' ? 'good' : result === 'fail' ? 'danger' : result === 'none' || result === 'neutral' ? '' : 'warn'

function Checks({ evidence }: { evidence: Evidence }) {
  const rows = [...authenticationRows(evidence), ...decisionRows(evidence)]
  return (
    <>
      {rows.length === 0 && <p class="soft">{words.noEvidence}</p>}
      <dl class="facts small">
        {rows.map(({ name, result, tone, detail, reason = '' }, index) => (
          <Fact key={`${name} ${index}`} name={name}>
            <span class="row wrap">
              {result !== '' && <Badge tone={tone}>{result}</Badge>} <Foreign>{detail}</Foreign>
              {reason !== '' && (
                <span class="soft">
                  <Foreign>{reason}</Foreign>
                </span>
              )}
            </span>
          </Fact>
        ))}
      </dl>
      {evidence.dns.length > 0 && (
        <details>
          <summary>{words.dns(count(evidence.dns.length))}</summary>
          <pre class="code-block">
            {evidence.dns.map(({ name, type, answer }) => `${name} ${type}\n  ${answer}`).join('\n')}
          </pre>
        </details>
      )}
    </>
  )
}

function authenticationRows({ spf, signatures, dmarc, arc }: Evidence): CheckRow[] {
  const { checks } = words
  const row = (name: string, result: string, sentences: readonly (string | undefined)[], reason = ''): CheckRow => ({
    name,
    result,
    tone: toneOf(result),
    detail: sentences.filter(Boolean).join(' '),
    reason,
  })
  return [
    ...(dmarc === null
      ? []
      : [
          row(
            checks.dmarc,
            dmarc.result,
            [words.dmarc[dmarc.result](dmarc.domain), words.policies[dmarc.policy]],
            dmarc.reason,
          ),
        ]),
    ...(spf === null ? [] : [row(checks.spf, spf.result, [words.spf[spf.result](spf.domain)], spf.reason)]),
    ...signatures.map(({ domain, selector, result, aligned, reason }) => {
      const proof = result === 'pass' ? (aligned ? words.aligned : words.notAligned) : undefined
      const record = words.record(`${selector}._domainkey.${domain}`)
      return row(checks.dkim, result, [words.dkim[result](domain), proof], [reason, record].filter(Boolean).join('; '))
    }),
    ...(arc === null || arc.result === 'none'
      ? []
      : [row(checks.arc, arc.result, [words.arc[arc.result === 'pass' ? 'pass' : 'other'](arc.domain)])]),
  ]
}

/** The sum, and the tests in the sentences of the server, the heaviest first. */
function spamText(spam: Evidence['spam']): string {
  const sum = spam.reduce((total, { points }) => total + points, 0)
  const parts = spam.map(({ sentence, detail, points }) => words.spamPart(sentence, detail, String(points)))
  return `${words.points(String(Math.round(sum * 10) / 10))}: ${parts.join(' ')}`
}

function forwardingText({ to, refused }: NonNullable<Evidence['forwarding']>): string {
  const done = to.length === 0 ? [] : [words.forwarded(to.join(', '))]
  return [...done, ...refused.map((one) => words.notForwarded(one.to, one.reason))].join('; ')
}

function decisionRows({ filter, script, spam, thread, forwarding, report, probes }: Evidence): CheckRow[] {
  const { checks } = words
  const plain = (name: string, detail: string): CheckRow => ({ name, result: '', tone: '', detail })
  const rule = filter?.rule == null ? '' : `: ${filter.rule.type} ${filter.rule.pattern}`
  return [
    ...(filter === null
      ? []
      : [plain(checks.filter, `${filter.accept ? words.filterAccepts : words.filterRefuses}${rule}`)]),
    ...(spam.length === 0 ? [] : [plain(checks.spam, spamText(spam))]),
    ...(script === null
      ? []
      : [plain(checks.script, [words.script[script.outcome], script.error ?? ''].filter(Boolean).join(': '))]),
    ...(thread === null ? [] : [plain(checks.thread, words.threadBy[thread.by])]),
    ...(forwarding === null ? [] : [plain(checks.forwarding, forwardingText(forwarding))]),
    ...(report === null ? [] : [plain(checks.report, words.report[report.kind])]),
    ...(probes === null ? [] : [plain(checks.probes, words.probes(count(probes)))]),
  ]
}

function Server({ row }: { row: InboundLogDetail }) {
  const { server } = words
  const foreign = (text: string): ComponentChildren => <Foreign>{text}</Foreign>
  return (
    <section>
      <h3 class="small soft">{server.title}</h3>
      <dl class="facts small">
        {row.remote_address !== '' && <Fact name={server.address}>{row.remote_address}</Fact>}
        {row.remote_name !== null && <Fact name={server.name}>{foreign(row.remote_name)}</Fact>}
        {row.helo !== '' && <Fact name={server.helo}>{foreign(row.helo)}</Fact>}
        <Fact name={server.envelope}>{row.mail_from === '' ? words.noSender : foreign(row.mail_from)}</Fact>
        <Fact name={server.tls}>{row.tls ?? server.noTls}</Fact>
        {row.size_bytes !== null && <Fact name={server.size}>{size(row.size_bytes)}</Fact>}
        {row.smtp_reply !== '' && (
          <Fact name={server.reply}>
            <code>{row.smtp_reply}</code>
          </Fact>
        )}
        <Fact name={server.id}>
          <CodeValue text={row.id} what={server.idOf} />
        </Fact>
        {row.message_id !== null && (
          <Fact name={server.message}>
            <CodeValue text={row.message_id} what={server.idOfMessage} />
          </Fact>
        )}
      </dl>
    </section>
  )
}
