import type { Memory } from './harness.ts';

/** The same numbers on every run (mulberry32), so that runs compare. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)]!;

const functionWords = 'the of and to in a is that for it was on with as be by at this from or an are not we but have has were which their can will one all been would there more when who if out so up said what its about into than them some could time'.split(' ');
const onsets = 'b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh st t tr v w'.split(' ');
const vowels = 'a e i o u ai ea io ou'.split(' ');
const codas = ['', '', 'l', 'm', 'n', 'nd', 'r', 'rt', 's', 'st', 't', 'x'];

/** Words as a language has them: the nth most frequent of them comes up 1/n as often as the first (Zipf). */
function zipfWords(count: number, random: () => number): () => string {
  const syllable = (): string => pick(onsets, random) + pick(vowels, random) + pick(codas, random);
  const words = new Set(functionWords);
  while (words.size < count) words.add(Array.from({ length: 2 + Math.floor(random() * 2) }, syllable).join(''));
  const list = [...words];
  let sum = 0;
  const cumulative = list.map((_, rank) => (sum += 1 / (rank + 1)));
  return () => {
    const wanted = random() * sum;
    let low = 0;
    for (let high = list.length - 1; low < high; ) {
      const middle = (low + high) >> 1;
      if (cumulative[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return list[low]!;
  };
}

/**
 * Elements of a batch as JSON, 400 bytes of text each, all distinct. Put together from 20,000 prepared sentences, so that
 * making one costs 2 µs and the client is not what is measured.
 */
export function zipfElements(seed: number): (marker?: string) => string {
  const random = randomNumbers(seed);
  const word = zipfWords(30_000, random);
  const sentences = Array.from({ length: 20_000 }, () => {
    let text = '';
    while (text.length < 94) text += `${text === '' ? '' : ' '}${word()}`;
    return `${text.slice(0, 98)}. `;
  });
  const categories = ['policy', 'incident', 'research', 'meeting', 'customer'];
  const departments = ['engineering', 'sales', 'legal', 'operations', 'finance', 'people'];
  const tags = Array.from({ length: 40 }, (_, index) => `tag-${index}`);
  return (marker = '') => {
    const content = `${marker}${pick(sentences, random)}${pick(sentences, random)}${pick(sentences, random)}${pick(sentences, random)}`;
    return `{"content":"${content}","metadata":{"category":"${pick(categories, random)}","department":"${pick(departments, random)}","tags":["${pick(tags, random)}","${pick(tags, random)}"],"source":"bench"}}`;
  };
}

interface Topic {
  readonly name: string;
  readonly things: readonly string[];
  readonly acts: readonly string[];
  readonly people: readonly string[];
}

const topic = (name: string, things: string, acts: string, people: string): Topic => ({ name, things: things.split(','), acts: acts.split(','), people: people.split(',') });

const topics: readonly Topic[] = [
  topic('payroll', 'overtime pay,salary bands,expense refunds,tax forms,bonus letters,pension transfers', 'approved,recalculated,delayed,audited,paid out', 'the payroll clerk,an accountant,the finance director'),
  topic('network outage', 'core router,fibre link,DNS server,load balancer,VPN gateway,firewall rules', 'rebooted,replaced,misconfigured,rolled back,monitored', 'the on-call engineer,a network technician,the hosting provider'),
  topic('hiring', 'job interviews,candidate references,offer letters,relocation grants,trial weeks', 'scheduled,postponed,signed,withdrawn,reviewed', 'the recruiter,a hiring manager,the new colleague'),
  topic('food safety', 'cold chain,kitchen hygiene,allergen labels,expiry dates,cutting boards', 'inspected,cleaned,recalled,logged,certified', 'the head chef,a health inspector,the canteen staff'),
  topic('patient care', 'blood pressure readings,wound dressings,insulin doses,discharge notes,allergy records', 'checked,adjusted,documented,prescribed,explained', 'the night nurse,a physician,the ward pharmacist'),
  topic('machine learning', 'training data,gradient updates,evaluation scores,model weights,prompt templates', 'fine-tuned,benchmarked,versioned,deployed,distilled', 'a data scientist,the research lead,an annotator'),
  topic('warehouse logistics', 'pallet racks,forklift routes,shipping labels,delivery slots,stock counts', 'rearranged,scanned,loaded,delayed,counted', 'the shift supervisor,a truck driver,the inventory planner'),
  topic('contract law', 'liability clauses,notice periods,confidentiality terms,court filings,warranties', 'negotiated,amended,breached,countersigned,archived', 'the general counsel,a paralegal,the opposing lawyer'),
  topic('solar power', 'roof panels,inverters,battery banks,grid tariffs,shade maps', 'installed,metered,subsidized,shut down,dimensioned', 'an electrician,the building owner,the grid operator'),
  topic('school lessons', 'algebra homework,reading circles,laboratory hours,exam grades,field trips', 'graded,repeated,cancelled,rewarded,prepared', 'the chemistry teacher,a pupil,the head of school'),
  topic('rail traffic', 'signal boxes,sleeper trains,track switches,platform displays,timetables', 'closed,renovated,delayed,announced,electrified', 'the dispatcher,a conductor,the track crew'),
  topic('gardening', 'tomato seedlings,compost heaps,pruning shears,drip irrigation,rose beds', 'planted,watered,mulched,harvested,grafted', 'the gardener,a volunteer,the allotment committee'),
  topic('data protection', 'consent forms,deletion requests,access logs,encryption keys,breach notices', 'granted,revoked,rotated,escalated,anonymized', 'the privacy officer,an auditor,the regulator'),
  topic('football', 'penalty kicks,transfer fees,training camps,season tickets,injury reports', 'missed,celebrated,disputed,sold,televised', 'the goalkeeper,a referee,the club president'),
  topic('astronomy', 'telescope mirrors,exoplanet transits,radio bursts,star charts,dust clouds', 'observed,calibrated,catalogued,simulated,photographed', 'an astronomer,the observatory,a graduate student'),
  topic('banking', 'mortgage rates,wire transfers,credit checks,fraud alerts,savings accounts', 'frozen,refinanced,flagged,settled,insured', 'the branch manager,a compliance analyst,the borrower'),
  topic('theatre', 'stage lights,opening night,costume fittings,ticket sales,rehearsals', 'dimmed,sold out,postponed,sewn,improvised', 'the director,an understudy,the stagehand'),
  topic('water supply', 'pumping stations,lead pipes,chlorine levels,reservoirs,leak detectors', 'drained,tested,replaced,refilled,pressurized', 'the plumber,a hydrologist,the city council'),
  topic('customer support', 'refund requests,chat transcripts,escalations,satisfaction surveys,help articles', 'answered,closed,reopened,translated,prioritized', 'the support agent,an angry customer,the team lead'),
  topic('aviation', 'landing gear,flight plans,de-icing fluid,boarding gates,cabin pressure', 'inspected,rerouted,grounded,refuelled,certified', 'the captain,a ground mechanic,air traffic control'),
];
const places = 'Oslo,Lagos,Lima,Kyoto,Porto,Tartu,Quebec,Pune,Cork,Graz,Hobart,Leeds,Nairobi,Malmö,Tucson,Brno'.split(',');
const reasons = 'because the budget was cut,after a complaint,as the old contract had ended,although nobody had asked for it,to meet the new rules,since the last attempt had failed,while the main office was closed,for the third time this year'.split(',');
const outcomes = 'The result was better than hoped,Nobody was hurt,It cost more than planned,The next review is due soon,A written report follows,Two questions stayed open,The schedule holds,Everyone agreed to try it again'.split(',');
const months = 'January,February,March,April,May,June,July,August,September,October,November,December'.split(',');

/** Texts of 200 to 400 bytes that mean something, on twenty topics; all distinct by their figures. */
export function topicMemories(count: number, seed: number): Memory[] {
  const random = randomNumbers(seed);
  return Array.from({ length: count }, (_, index) => {
    const { name, things, acts, people } = pick(topics, random);
    const place = pick(places, random);
    const first = pick(things, random);
    const second = pick(things, random);
    const content = [
      `In ${pick(months, random)} ${1990 + Math.floor(random() * 36)} ${pick(people, random)} in ${place} ${pick(acts, random)} the ${first} ${pick(reasons, random)}.`,
      `Concerning ${name}: the ${second} were ${pick(acts, random)} by ${pick(people, random)}, case ${10_000 + index}, at a cost of ${Math.floor(random() * 90_000)} dollars.`,
      `${pick(outcomes, random)}.`,
      ...(random() < 0.5 ? [`Before that, the ${pick(things, random)} had been ${pick(acts, random)} in ${pick(places, random)}, ${pick(reasons, random)}.`] : []),
    ].join(' ');
    return { content, metadata: { category: name.replaceAll(' ', '-'), tags: [place.toLowerCase()], source: 'bench' } };
  });
}

/** A question in natural language on one of the topics. */
export function topicQuestions(count: number, seed: number): string[] {
  const random = randomNumbers(seed);
  return Array.from({ length: count }, () => {
    const { things, acts, people } = pick(topics, random);
    const forms = [
      `Who ${pick(acts, random)} the ${pick(things, random)} in ${pick(places, random)}?`,
      `Why were the ${pick(things, random)} ${pick(acts, random)} ${pick(reasons, random)}?`,
      `What did ${pick(people, random)} do about the ${pick(things, random)} in ${pick(places, random)}?`,
    ];
    return pick(forms, random);
  });
}

/** Three words that occur together somewhere. */
export function topicKeywords(count: number, seed: number): string[] {
  const random = randomNumbers(seed);
  return Array.from({ length: count }, () => {
    const { things, acts } = pick(topics, random);
    return `${pick(things, random).split(' ').at(-1)} ${pick(acts, random).split(' ')[0]} ${pick(places, random)}`;
  });
}
