// Routing rules: recipient domains whose messages leave by one account, by a group, or straight.

import { useState } from 'preact/hooks'
import { done, take, takeList, takeTagged } from '../../api/client.ts'
import type { DeliveryGroup, Provider, RoutingRule } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { sending as words } from '../../words/en/sending.ts'
import { type OpenTeam, useTeam } from '../team.ts'

type Match = RoutingRule['match']
type Step = { kind: 'add' } | { kind: 'delete'; rule: RoutingRule }
interface Ways {
  accounts: readonly Provider[]
  groups: readonly DeliveryGroup[]
}

const WAYS_SHOWN = 100
const DIRECT = 'direct'

export function Rules() {
  const team = useTeam()
  const [step, setStep] = useState<Step | null>(null)
  const query = useQuery([team.id, 'routing-rules'], () => take(team.api.GET('/routing-rules')))
  const ways = useWays(team)
  const mayChange = team.may('provider.manage')
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton />
  const { rules } = query.data
  const addButton = mayChange && (
    <Button kind="primary" icon="plus" onPress={() => setStep({ kind: 'add' })}>
      {words.addRule}
    </Button>
  )
  return (
    <Section title={words.tabs.rules} note={words.rulesNote} actions={rules.length > 0 && addButton}>
      {rules.length === 0 ? (
        <Empty icon="route" title={words.noRules} action={addButton}>
          {words.noRulesText}
        </Empty>
      ) : (
        <Table
          label={words.tabs.rules}
          rows={rules}
          columns={columnsOf(ways, mayChange ? (rule) => setStep({ kind: 'delete', rule }) : null)}
          keyOf={({ match, domain }) => `${match} ${domain}`}
        />
      )}
      {step?.kind === 'add' && <AddRule ways={ways} onClose={() => setStep(null)} />}
      {step?.kind === 'delete' && <DeleteRule rule={step.rule} onClose={() => setStep(null)} />}
    </Section>
  )
}

function useWays(team: OpenTeam): Ways {
  const query = { limit: WAYS_SHOWN }
  const accounts = useQuery([team.id, 'providers', query], () =>
    takeList(team.api.GET('/providers', { params: { query } })),
  )
  const groups = useQuery([team.id, 'groups', query], () =>
    takeList(team.api.GET('/delivery-groups', { params: { query } })),
  )
  return { accounts: accounts.data?.items ?? [], groups: groups.data?.items ?? [] }
}

/** @param choose null when the role does not allow changes */
function columnsOf({ accounts, groups }: Ways, choose: ((rule: RoutingRule) => void) | null): Column<RoutingRule>[] {
  const nameOf = ({ provider_id, group_id }: RoutingRule) => {
    const id = provider_id ?? group_id
    return id === null ? words.direct : ([...accounts, ...groups].find((way) => way.id === id)?.name ?? id)
  }
  return [
    {
      head: words.ruleFor,
      cell: (rule) => (
        <span class="two-lines">
          <span class="strong">{rule.domain}</span>
          <span>{words.matches[rule.match]}</span>
        </span>
      ),
    },
    { head: words.leavesBy, cell: nameOf },
    {
      head: '',
      class: 'number',
      cell: (rule) =>
        choose !== null && (
          <IconButton icon="trash-2" label={`${common.delete} ${rule.domain}`} onPress={() => choose(rule)} />
        ),
    },
  ]
}

/** Changes the rules as they are now; the server refuses when another person changes them at the same time. */
async function change(team: OpenTeam, next: (rules: readonly RoutingRule[]) => RoutingRule[]): Promise<void> {
  const { value, tag } = await takeTagged(team.api.GET('/routing-rules'))
  const body = { rules: next(value.rules) }
  await done(team.api.PUT('/routing-rules', { params: { header: { 'If-Match': tag } }, body }))
  refresh(team.id, 'routing-rules')
}

function AddRule({ ways: { accounts, groups }, onClose }: { ways: Ways; onClose: () => void }) {
  const team = useTeam()
  const [domain, setDomain] = useState('')
  const [match, setMatch] = useState<Match>('domain')
  const [way, setWay] = useState(accounts[0]?.id ?? DIRECT)
  const save = useAction(async () => {
    const isGroup = groups.some(({ id }) => id === way)
    const via = way === DIRECT ? 'direct' : isGroup ? 'group' : 'provider'
    const target = { provider_id: via === 'provider' ? way : null, group_id: isGroup ? way : null }
    // The new rule is the first: an error names its domain.
    await change(team, (rules) => [{ match, domain: domain.trim(), via, ...target }, ...rules])
    say(words.ruleSaved)
    onClose()
  })
  const matches = (Object.keys(words.matches) as Match[]).map((value) => ({ value, label: words.matches[value] }))
  const choices = [
    ...[...accounts, ...groups].map(({ id, name }) => ({ value: id, label: name })),
    { value: DIRECT, label: words.direct },
  ]
  const error = save.error?.fieldMessage('rules.0.domain')
  return (
    <Dialog
      title={words.addRule}
      foot={<FormFoot verb={common.save} action={save} onClose={onClose} />}
      error={error === undefined ? save.error : null}
      onClose={onClose}
      onSubmit={() => void save.run()}
    >
      <TextField
        label={words.ruleDomain}
        hint={words.ruleDomainHint}
        value={domain}
        onValue={setDomain}
        error={error}
        hasFocus
      />
      <SelectField label={words.ruleMatch} value={match} choices={matches} onValue={setMatch} />
      <SelectField label={words.leavesBy} value={way} choices={choices} onValue={setWay} />
    </Dialog>
  )
}

function DeleteRule({ rule, onClose }: { rule: RoutingRule; onClose: () => void }) {
  const team = useTeam()
  const action = useAction(async () => {
    await change(team, (rules) => rules.filter(({ match, domain }) => match !== rule.match || domain !== rule.domain))
    say(words.ruleDeleted(rule.domain))
    onClose()
  })
  return (
    <Confirm
      title={words.deleteRuleTitle(rule.domain)}
      verb={words.deleteRule}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {words.deleteRuleText}
    </Confirm>
  )
}
