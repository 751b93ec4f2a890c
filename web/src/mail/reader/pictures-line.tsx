// Which pictures of a message were not loaded, and which trackers never are.

import type { MessageView } from '../../api/types.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { mail as words } from '../../words/en/mail.ts'

interface PicturesLineProps {
  view: MessageView
  areShown: boolean
  show: () => void
}

export function PicturesLine({ view: { remote, images }, areShown, show }: PicturesLineProps) {
  const companies = [...new Set(remote.trackers.map(({ name }) => name))]
  const hidden = areShown ? 0 : remote.images
  if (hidden === 0 && companies.length === 0) return null
  return (
    <div class="pictures-line soft meta">
      <Icon name="eye-off" />
      <span>
        {hidden > 0 && words.pictures.hidden(hidden)}{' '}
        {companies.length > 0 && words.pictures.trackers(remote.trackers.length, companies.join(', '))}
      </span>
      {hidden > 0 && images.reason !== 'off' && (
        <Button kind="link" onPress={show}>
          {words.pictures.show}
        </Button>
      )}
    </div>
  )
}
