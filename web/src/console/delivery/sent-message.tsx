// The content of a sent message, as text.

import { take } from '../../api/client.ts'
import { useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { common } from '../../words/en/common.ts'
import { delivery } from '../../words/en/delivery.ts'
import { useTeam } from '../team.ts'

const words = delivery.message

export function SentMessage({ id, onClose }: { id: string; onClose: () => void }) {
  const team = useTeam()
  const { data, error, refetch } = useQuery([team.id, 'sent', id], () =>
    take(team.api.GET('/emails/{message_id}', { params: { path: { message_id: id } } })),
  )
  return (
    <Dialog title={words.title} isWide onClose={onClose} foot={<Button onPress={onClose}>{common.close}</Button>}>
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data !== undefined && (
        <>
          <dl class="facts">
            <Fact name={words.from}>
              <Foreign>{data.from.email}</Foreign>
            </Fact>
            <Fact name={words.to}>
              <Foreign>{data.recipients.map(({ email }) => email).join(', ')}</Foreign>
            </Fact>
            <Fact name={words.subject}>
              <Foreign>{data.subject === '' ? delivery.noSubject : data.subject}</Foreign>
            </Fact>
          </dl>
          {data.content === null ? (
            <p class="soft">{words.gone}</p>
          ) : (
            <pre class="code-block" dir="auto">
              {data.content.text_body ?? words.noText}
            </pre>
          )}
        </>
      )}
    </Dialog>
  )
}
