import { formatPointer } from '../../json/pointer.ts'
import type { Severity } from '../model/report.ts'
import { type AuthoredSkill, authoredSkills, isBlank } from './authored.ts'
import { type Rule, rule } from './rule.ts'

const fewestExamples = 2

const kebabCase = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** A rule about one field of every skill: it finds something where `wrong` says so. */
const ofEach = (
  field: string,
  id: string,
  severity: Severity,
  message: string,
  wrong: (skill: AuthoredSkill) => boolean,
): Rule =>
  rule(id, severity, message, subject =>
    authoredSkills(subject).flatMap(skill => (wrong(skill) ? [skill.place + formatPointer(field)] : [])),
  )

/** How skills are declared. */
export const skills: readonly Rule[] = [
  rule(
    'skills-undeclared',
    'info',
    'are not declared: one, "main", was made from the name and description',
    ({ authored }) => (isBlank(authored.skills) ? ['/skills'] : []),
  ),
  ofEach(
    'id',
    'skill-id-kebab-case',
    'info',
    'is not kebab-case of at most 64 characters, such as "code-review"',
    ({ skill }) => !kebabCase.test(skill.id),
  ),
  ofEach('tags', 'tags-undeclared', 'info', 'are missing: add words that people search by', ({ authored }) =>
    isBlank(authored.tags),
  ),
  ofEach(
    'examples',
    'few-examples',
    'info',
    'are fewer than two: add real prompts, from which orchestrators learn what is valid input',
    ({ skill }) => new Set(skill.examples?.map(example => example.trim())).size < fewestExamples,
  ),
]
