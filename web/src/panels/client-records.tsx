// The records by which mail programs find the server: wished for, never needed.

import type { ClientDnsCheck, ClientDnsRecord, Domain } from '../api/types.ts'
import { CodeValue } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { State } from '../parts/marks.tsx'
import { Section } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { domains as words } from '../words/en/domains.ts'
import type { LiveCheck } from './domain-records.tsx'
import { shortName } from './record-rows.ts'

interface Row extends ClientDnsRecord {
  check: ClientDnsCheck | undefined
}

/** A target of `.` says that the protocol is not served (RFC 2782). */
const isNotServed = ({ type, value }: ClientDnsRecord) => type === 'SRV' && / \.$/.test(value)

function kindOf(record: ClientDnsRecord): { name: string; note: string } {
  const kind = words.clientKinds[record.name.split('.')[0]!] ?? { name: record.name, note: '' }
  return isNotServed(record) ? { ...kind, note: words.notServed } : kind
}

function RecordState({ check }: Row) {
  if (check === undefined) return <span class="soft">{words.notChecked}</span>
  if (check.ok)
    return (
      <span class="row end-row soft">
        <Icon name="check" tone="good" />
        {words.right}
      </span>
    )
  return <State>{check.found.length === 0 ? words.missing : words.differs}</State>
}

export function ClientRecords({ domain, live }: { domain: Domain; live: LiveCheck }) {
  const { client } = domain.dns_records
  if (client.length === 0) return null
  const rows: Row[] = client.map((record) => ({
    ...record,
    check: live.client.find(({ name, type }) => name === record.name && type === record.type),
  }))
  return (
    <Section title={words.clientTitle} note={words.clientNote}>
      <Table
        label={words.clientTitle}
        rows={rows}
        keyOf={({ name, type }) => `${name} ${type}`}
        isTall
        isNamed
        columns={[
          {
            head: words.record,
            cell: (row) => (
              <span class="two-lines">
                <span>{kindOf(row).name}</span>
                <span>{kindOf(row).note}</span>
              </span>
            ),
          },
          { head: words.type, cell: ({ type }) => <span class="mono soft">{type}</span>, class: 'wide-only' },
          {
            head: words.host,
            cell: ({ name }) => <CodeValue text={shortName(name, domain.domain)} what={name} />,
            class: 'value-cell',
          },
          {
            head: words.value,
            cell: ({ name, value }) => <CodeValue text={value} what={`${words.value} ${name}`} />,
            class: 'value-cell',
          },
          { head: words.state, cell: (row) => <RecordState {...row} />, class: 'number' },
        ]}
      />
    </Section>
  )
}
