import { authoredSkills, getAuthored } from './authored.ts'
import { type Rule, rule } from './rule.ts'

/** Words that tell a router nothing. */
const emptyWords = new Set(
  `a an and any anything can do does everything for handle handles help helps in is it of on or something stuff that
  the things this to useful various what with you your agent assistant skill`.split(/\s+/),
)

/** A word; in scripts that are written without spaces, two characters stand for one. */
const word = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]{1,2}|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

const fewestWords = 3

/** A description that is long enough shows it early. */
const beginning = 400

const isThin = (name: string, description: string): boolean => {
  const text = description.slice(0, beginning).toLowerCase()
  const telling = (text.match(word) ?? []).filter(found => !emptyWords.has(found))
  return telling.length < fewestWords || text.trim() === name.trim().toLowerCase()
}

/** What orchestrators route by. */
export const descriptions: readonly Rule[] = [
  rule(
    'thin-description',
    'warning',
    'says too little to route by: say what is done, to what, and with what result',
    subject => [
      ...(isThin(subject.card.name, subject.card.description) ? [getAuthored(subject, '/description').place] : []),
      ...authoredSkills(subject)
        .filter(({ skill }) => isThin(skill.name, skill.description))
        .map(({ place }) => `${place}/description`),
    ],
  ),
]
