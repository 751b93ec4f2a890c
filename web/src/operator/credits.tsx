// The credits of a team: its balance, its entries, and a new one.

import { useState } from 'preact/hooks'
import { operatorApi, take, takeList } from '../api/client.ts'
import type { OperatorTeam, Transaction } from '../api/operator.ts'
import { money } from '../base/numbers.ts'
import { refresh, useAction, usePages, useQuery } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { transactionColumns } from '../panels/transactions.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { Fact } from '../parts/facts.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../parts/filters.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { List } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { operator } from '../words/en/operator.ts'
import { credits as words } from '../words/en/operator-users.ts'

type CreditType = 'purchase' | 'adjustment' | 'refund'

export function Credits() {
  const filters = useFilters(['open', 'team_id'])
  const [isAdding, setAdding] = useState(false)
  const teams = useQuery(['operator', 'teams'], () => take(operatorApi.GET('/teams')))
  const team = teams.data?.find(({ id }) => id === filters.get('team_id')) ?? teams.data?.[0]
  const path = `/teams/${team?.id ?? '{team_id}'}`
  return (
    <Page
      title={operator.pages.credits}
      note={words.note}
      command="mailstead team credit <amount> --team <team>"
      curl={[`${path}/billing`, `${path}/transactions`].map((one) => ({
        ...{ method: 'GET', path: one, base: '/operator/v1' },
      }))}
      actions={
        <Button kind="primary" icon="plus" isOff={team === undefined} onPress={() => setAdding(true)}>
          {words.add}
        </Button>
      }
    >
      {teams.error !== null && <ErrorCard error={teams.error} onRetry={teams.refetch} />}
      {teams.data?.length === 0 && <Empty icon="receipt-text" title={words.noTeam} />}
      {team !== undefined && (
        <>
          <FilterBar>
            <TeamMenu team={team} teams={teams.data ?? []} choose={(id) => filters.set('team_id', id)} />
            <SearchField filters={filters} label={words.search} />
            <FilterMenu filters={filters} name="type" label={words.type} choices={choicesOf(words.types)} />
          </FilterBar>
          <Balance key={team.id} team={team} />
          <Entries
            team={team}
            type={filters.get('type') as Transaction['type'] | undefined}
            text={filters.get('q')}
            clear={() => filters.change({ type: null, q: null })}
          />
          {isAdding && <NewCredit team={team} onClose={() => setAdding(false)} />}
        </>
      )}
    </Page>
  )
}

interface TeamMenuProps {
  team: OperatorTeam
  teams: readonly OperatorTeam[]
  choose: (id: string) => void
}

function TeamMenu({ team, teams, choose }: TeamMenuProps) {
  const items = teams.map(({ id, name }) => ({ label: name, isChosen: id === team.id, onPress: () => choose(id) }))
  return (
    <Menu class="button filter on" label={`${words.team}: ${team.name}`} items={items}>
      <span class="cut">{team.name}</span>
      <Icon name="chevron-down" />
    </Menu>
  )
}

function Balance({ team }: { team: OperatorTeam }) {
  const { data, error, refetch } = useQuery(['operator', 'credits', team.id], () =>
    take(operatorApi.GET('/teams/{team_id}/billing', { params: { path: { team_id: team.id } } })),
  )
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  if (data === undefined) return <Skeleton rows={3} />
  const { currency, total_purchased, total_consumed } = data.summary
  return (
    <dl class="facts">
      <Fact name={words.balance}>{money(data.balance, currency)}</Fact>
      <Fact name={words.purchased}>{money(total_purchased, currency)}</Fact>
      <Fact name={words.consumed}>{money(total_consumed, currency)}</Fact>
    </dl>
  )
}

interface EntriesProps {
  team: OperatorTeam
  type: Transaction['type'] | undefined
  text: string | undefined
  clear: () => void
}

function Entries({ team, type, text, clear }: EntriesProps) {
  const path = { team_id: team.id }
  const query = { type, q: text }
  const pages = usePages(['operator', 'credits', team.id, 'transactions', query], (cursor) =>
    takeList(operatorApi.GET('/teams/{team_id}/transactions', { params: { path, query: { ...query, cursor } } })),
  )
  return (
    <Section title={words.transactions}>
      <List
        pages={pages}
        label={words.transactions}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="receipt-text" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={type === undefined && text === undefined ? undefined : clear}
      />
    </Section>
  )
}

const COLUMNS = transactionColumns(words)

const CREDIT_TYPES: readonly CreditType[] = ['purchase', 'adjustment', 'refund']

function NewCredit({ team, onClose }: { team: OperatorTeam; onClose: () => void }) {
  const headerOf = useRequestKey()
  const [type, setType] = useState<CreditType>('purchase')
  const [amount, setAmount] = useState('')
  const [description, setDescription] = useState('')
  const action = useAction(async () => {
    const body = { type, amount: amount.trim(), description: description.trim() }
    const params = { path: { team_id: team.id }, header: headerOf(body) }
    const made = await take(operatorApi.POST('/teams/{team_id}/credits', { params, body }))
    refresh('operator', 'credits')
    say(words.added(money(made.amount, made.currency)))
    onClose()
  })
  const errorOf = (field: string) => action.error?.fieldMessage(field)
  const isInField = errorOf('amount') !== undefined || errorOf('description') !== undefined
  return (
    <Dialog
      title={words.addTitle(team.name)}
      foot={
        <FormFoot
          verb={words.add}
          action={action}
          isOff={amount.trim() === '' || description.trim() === ''}
          onClose={onClose}
        />
      }
      error={isInField ? null : action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <SelectField
        label={words.type}
        value={type}
        choices={CREDIT_TYPES.map((value) => ({ value, label: words.types[value] }))}
        onValue={setType}
      />
      <TextField
        label={words.amount}
        hint={words.amountHint}
        value={amount}
        onValue={setAmount}
        error={errorOf('amount')}
        hasFocus
      />
      <TextField
        label={words.description}
        hint={words.descriptionHint}
        value={description}
        onValue={setDescription}
        error={errorOf('description')}
      />
    </Dialog>
  )
}
