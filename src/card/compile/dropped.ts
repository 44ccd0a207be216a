import type { Pointer } from '../../json/pointer.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { truncatePointers } from '../model/bounded.ts'
import type { Provenance } from '../read/provenance.ts'

/**
 * What each dialect has no place for, where it was authored. Only what the author wrote can be dropped: a default that a
 * dialect has no word for is no loss, nor is an interface of this host.
 */
export const droppedAsAuthored = (
  dropped: Record<string, Pointer[]>,
  route: Manifest['route'],
  reading: Provenance,
  toldAt: (place: Pointer) => Pointer,
): Record<string, Pointer[]> => {
  const ours = (place: Pointer) => route === 'gateway' && place.startsWith('/supportedInterfaces/')
  return Object.fromEntries(
    Object.entries(dropped).flatMap(([name, places]) => {
      const lost = places.filter(place => !ours(place) && !reading.isFilled(place))
      return lost.length > 0 ? [[name, truncatePointers(lost.map(place => toldAt(reading.sourceOf(place))))]] : []
    }),
  )
}
