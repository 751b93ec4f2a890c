// Says whether a list follows what happens by itself, or is asked again in intervals.

import { isLive } from '../live/state.ts'
import { common } from '../words/en/common.ts'

export function LiveMark() {
  return (
    <span class="row" title={isLive.value ? common.liveNote : common.notLiveNote}>
      <span class={`live-dot ${isLive.value ? '' : 'off'}`} />
      {isLive.value ? common.live : common.notLive}
    </span>
  )
}
