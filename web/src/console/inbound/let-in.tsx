// Lets a sender in whom a sender filter refused: shows what changes in the filter, and changes it.

import { useState } from 'preact/hooks'
import { done, takeList, takeTagged } from '../../api/client.ts'
import type { FilterState, InboundLogDetail } from '../../api/types.ts'
import { changeFor, type FilterChange } from '../../base/filter-change.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { Check } from '../../parts/field.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { inbound } from '../../words/en/inbound.ts'
import { type OpenTeam, useTeam } from '../team.ts'

const words = inbound.letIn

export interface Owner {
  scope: 'mailbox' | 'domain'
  id: string
  /** Address of the mailbox, or name of the domain. */
  name: string
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1)

/** The sender as the filters see them, From first. */
export function sendersOf({ header_from: from, mail_from: envelope }: InboundLogDetail): string[] {
  return [from, envelope].filter((one): one is string => one !== null && one !== '')
}

/** Offered for a message that a sender filter refused, to people who may change the filter. */
export function LetInButton({ row }: { row: InboundLogDetail }) {
  const team = useTeam()
  const [isOpen, setOpen] = useState(false)
  const { filter } = row.evidence
  const isRefused = row.reason === 'sender_filtered' && filter?.scope != null && sendersOf(row).length > 0
  if (!isRefused || !team.may('mailbox.admin.manage')) return null
  return (
    <>
      <Button kind="primary" icon="user-plus" onPress={() => setOpen(true)}>
        {words.button}
      </Button>
      {isOpen && <LetInDialog row={row} scope={filter.scope!} onClose={() => setOpen(false)} />}
    </>
  )
}

/** The mailbox or the domain whose filter refused the message; null when it is gone. */
async function findOwner(team: OpenTeam, row: InboundLogDetail, scope: Owner['scope']): Promise<Owner | null> {
  if (scope === 'mailbox') return row.mailbox_id === null ? null : { scope, id: row.mailbox_id, name: row.rcpt_to }
  const name = domainOf(row.rcpt_to).toLowerCase()
  const { items } = await takeList(team.api.GET('/domains', { params: { query: { q: name } } }))
  const domain = items.find((one) => one.domain === name)
  return domain === undefined ? null : { scope, id: domain.id, name }
}

export function readFilter({ api }: OpenTeam, { scope, id }: Owner) {
  return scope === 'mailbox'
    ? takeTagged(api.GET('/mailboxes/{mailbox_id}/filters', { params: { path: { mailbox_id: id } } }))
    : takeTagged(api.GET('/domains/{domain_id}/filters', { params: { path: { domain_id: id } } }))
}

export function saveFilter({ api }: OpenTeam, { scope, id }: Owner, body: FilterState, tag: string): Promise<void> {
  const header = { 'If-Match': tag }
  return scope === 'mailbox'
    ? done(api.PUT('/mailboxes/{mailbox_id}/filters', { params: { path: { mailbox_id: id }, header }, body }))
    : done(api.PUT('/domains/{domain_id}/filters', { params: { path: { domain_id: id }, header }, body }))
}

interface LetInProps {
  row: InboundLogDetail
  scope: Owner['scope']
  onClose: () => void
}

function LetInDialog({ row, scope, onClose }: LetInProps) {
  const team = useTeam()
  const senders = sendersOf(row)
  const [pattern, setPattern] = useState(senders[0]!)
  const { data, error, refetch } = useQuery([team.id, 'sender-filter', scope, row.id], async () => {
    const owner = await findOwner(team, row, scope)
    return { owner, current: owner === null ? null : await readFilter(team, owner) }
  })
  const current = data?.current ?? null
  const change = current === null ? null : changeFor(current.value, pattern, senders)
  const allow = useAction(async () => {
    await saveFilter(team, data!.owner!, change!.filter, current!.tag)
    for (const name of ['sender-filter', 'mailboxes', 'domains']) refresh(team.id, name)
    say(words.done(pattern))
    onClose()
  })
  return (
    <Dialog
      title={words.title(senders[0]!)}
      foot={<FormFoot verb={words.verb} action={allow} isOff={change === null} onClose={onClose} />}
      error={allow.error}
      onClose={onClose}
      onSubmit={() => change !== null && void allow.run()}
    >
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Skeleton rows={3} />}
      {data !== undefined && data.owner === null && <p>{words.noFilter}</p>}
      {data?.owner != null && change === null && <p>{words.already}</p>}
      {data?.owner != null && change !== null && (
        <>
          <Who sender={senders[0]!} pattern={pattern} onPattern={setPattern} />
          <Consequences owner={data.owner} change={change} />
          {row.header_from === null && <ToneLine>{words.envelopeOnly}</ToneLine>}
          {row.authentication?.dmarc === 'fail' && <ToneLine tone="warn">{words.forged}</ToneLine>}
        </>
      )}
    </Dialog>
  )
}

interface WhoProps {
  sender: string
  pattern: string
  onPattern: (pattern: string) => void
}

export function Who({ sender, pattern, onPattern }: WhoProps) {
  const domain = domainOf(sender)
  const choices = [
    { value: sender, label: words.one(sender) },
    { value: `@${domain}`, label: words.all(domain) },
  ]
  return (
    <fieldset class="stack">
      <legend class="strong">{words.which}</legend>
      {choices.map(({ value, label }) => (
        <Check
          key={value}
          group="who"
          label={<bdi>{label}</bdi>}
          isOn={pattern === value}
          onChange={() => onPattern(value)}
        />
      ))}
    </fieldset>
  )
}

function Consequences({ owner: { scope, name }, change: { added, removed } }: { owner: Owner; change: FilterChange }) {
  return (
    <div class="panel stack" role="status">
      {added !== null && <p>{words.adds(added, words.filterOf[scope](name))}</p>}
      {removed.map((pattern) => (
        <p key={pattern}>
          {words.removes(pattern)} {!pattern.includes('@') || pattern.startsWith('@') ? words.widens(pattern) : ''}
        </p>
      ))}
      <p class="soft">{words.later}</p>
    </div>
  )
}
