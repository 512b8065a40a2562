"""Words that are nobody's name, for training the character model: written for this, or made from parts.

Eponyms stand here on purpose: Broca's area and Parkinson disease are no people.
"""

from __future__ import annotations

import random

ANATOMY = """
frontal lobe; temporal lobe; parietal cortex; occipital pole; hippocampus; amygdala; putamen; caudate
nucleus; globus pallidus; thalamus; hypothalamus; cerebellum; brainstem; corpus callosum; insula;
cingulate gyrus; precuneus; cuneus; lingual gyrus; fusiform gyrus; superior temporal gyrus; middle frontal
gyrus; inferior parietal lobule; angular gyrus; Broca's area; Wernicke's area; Brodmann area 17; Brodmann
area 4; Heschl's gyrus; Rolandic operculum; Sylvian fissure; Meynert nucleus; Edinger-Westphal nucleus;
circle of Willis; foramen of Monro; island of Reil; Purkinje layer; Meckel cave; Luschka foramen; Varolius
bridge; Gasserian ganglion; Betz cell; Golgi apparatus; Schwann cell; Langerhans islet; Kupffer cell;
Sertoli cell; Leydig cell; Hassall corpuscle; Peyer patch; loop of Henle; bundle of His; Bachmann bundle;
Bowman capsule; Eustachian tube; Fallopian tube; Achilles tendon; Adam's apple; left ventricle; right
atrium; mitral valve; aortic arch; carotid artery; jugular vein; femur; tibia; fibula; humerus; radius;
ulna; clavicle; scapula; sternum; pelvis; sacrum; lumbar spine; cervical spine; liver; spleen; pancreas;
kidney; bladder; prostate; uterus; ovary; thyroid; adrenal gland; pituitary; retina; cornea; cochlea;
larynx; trachea; bronchus; lung; stomach; duodenum; jejunum; ileum; colon; rectum; skin; bone marrow;
lymph node; skeletal muscle; adipose tissue; Left-Hippocampus; Right-Putamen; ctx-lh-precentral;
ctx-rh-insula; Left-Cerebellum-Cortex; bankssts; pericalcarine; lateralorbitofrontal
"""
DISORDERS = """
Alzheimer's disease; Parkinson disease; Huntington disease; Crohn's disease; Hodgkin lymphoma; Down
syndrome; Tourette syndrome; Asperger syndrome; Marfan syndrome; Turner syndrome; Klinefelter syndrome;
Cushing syndrome; Addison disease; Graves disease; Hashimoto thyroiditis; Paget disease; Raynaud
phenomenon; Sjogren syndrome; Guillain-Barre syndrome; Kawasaki disease; Wilson disease; Gaucher disease;
Tay-Sachs disease; Fabry disease; Bell palsy; Meniere disease; Lewy body dementia; Barrett esophagus; Lyme
disease; Chagas disease; Ewing sarcoma; hypertension; diabetes mellitus; asthma; epilepsy; migraine;
depression; anxiety; schizophrenia; stroke; anemia; sepsis; pneumonia; bronchitis; sinusitis; otitis
media; dermatitis; psoriasis; eczema; gout; osteoarthritis; osteoporosis; fracture; sprain; burn;
laceration; concussion; obesity; hyperlipidemia; hypothyroidism; normal pregnancy; preeclampsia;
miscarriage; viral infection; influenza; covid-19; hepatitis; cirrhosis; gastritis; appendicitis;
cholecystitis; cataract; glaucoma; Hypertonie; Herzinsuffizienz; Vorhofflimmern; Lungenentzündung;
Diabetes mellitus Typ 2; Schlaganfall; Kopfschmerz; hypertensie; hartfalen; longontsteking; suikerziekte;
hoofdpijn; insuffisance cardiaque; pneumonie; mal de tête; insuficiencia cardíaca; neumonía; dolor de
cabeza; insufficienza cardiaca; polmonite; cefalea
"""
ANSWERS = """
yes; no; unknown; true; false; male; female; m; f; other; never; former; current; daily; weekly; monthly;
rarely; sometimes; often; always; strongly agree; agree; neutral; disagree; strongly disagree; mild;
moderate; severe; low; medium; high; normal; abnormal; positive; negative; left; right; bilateral;
control; patient; placebo; treatment; baseline; follow-up; week 4; month 6; visit 2; single; married;
divorced; widowed; primary; secondary; university; bachelor; master; doctorate; employed; retired;
student; inpatient; outpatient; emergency; ambulatory; wellness; discharged; deceased; alive; white;
black; asian; hispanic; rest; task; go; nogo; congruent; incongruent; target; distractor; face; house;
happy; sad; angry; fearful; eyes open; eyes closed; ja; nein; nee; oui; non; sí; no sabe; weiblich;
männlich; man; vrouw; homme; femme; hombre; mujer; uomo; donna; ledig; verheiratet; gehuwd; célibataire;
casado; soltera; nie; manchmal; oft; nooit; soms; vaak; jamais; parfois; souvent; Private;
Self-emp-not-inc; State-gov; HS-grad; Some-college; Masters; Never-married; Craft-repair; Exec-managerial;
Machine-op-inspct
"""
COLOURS = """
navy; crimson; rebecca purple; dodger blue; alice blue; forest green; burlywood; peru; sienna; tan; rose;
ivory; ruby; amber; violet; olive; hazel; jade; scarlet; ebony; lavender; coral; magenta; indigo; teal;
cornflower; Prussian blue; Tyrian purple; Payne's grey; Davy's grey; Hooker's green; Scheele's green
"""
DEVICES = """
Siemens Trio; Siemens Prisma; Philips Achieva; Philips Ingenia; GE Discovery MR750; Bruker BioSpec;
Magstim Rapid; BrainAmp DC; EGI 128; Biosemi ActiveTwo; Elekta Neuromag; Zeiss Axio; Leica DM6; Nikon Ti2;
Illumina NovaSeq; Roche Cobas; Abbott Architect; Omron M3; Polar H10; Fitbit Charge 4; ActiGraph GT3X;
head coil; torso probe; infusion pump; pacemaker
"""
SPECIES = """
Homo sapiens; Mus musculus; Rattus norvegicus; Escherichia coli; Staphylococcus aureus; Candida albicans;
Streptococcus pyogenes; Klebsiella pneumoniae; Salmonella enterica; Listeria monocytogenes; Drosophila
melanogaster; Danio rerio; Saccharomyces cerevisiae; Arabidopsis thaliana; Macaca mulatta; Plasmodium
falciparum; Borrelia burgdorferi
"""
TESTS = """
Stroop test; Beck Depression Inventory; Hamilton scale; Montreal Cognitive Assessment; Mini-Mental State;
Trail Making Test; Wechsler scale; Raven matrices; Edinburgh Handedness; Pittsburgh Sleep Quality Index;
Epworth Sleepiness Scale; Karolinska scale; Likert scale; Apgar score; Glasgow Coma Scale; Barthel index;
Rankin scale; Charlson index; Gleason score; Child-Pugh class; Killip class; Schirmer test; Coombs test;
Mantoux test; Papanicolaou smear; Rorschach; serum creatinine; hemoglobin; hematocrit; white cell count;
platelets; fasting glucose; cholesterol; triglycerides; body mass index; heart rate; systolic blood
pressure; oxygen saturation; body height; body weight; Student's t; Fisher exact; Kruskal-Wallis;
Mann-Whitney; Pearson; Spearman; Bonferroni; Cohen's d; Cronbach alpha; Gaussian; Bernoulli; Poisson;
Newton; Kelvin; Tesla; Hertz; Pascal; Siemens; Becquerel; Sievert; Gray; Curie; Celsius; Fahrenheit
"""
_DRUG_STARTS = (
    "ami", "car", "dil", "eto", "flu", "gli", "hal", "ibu", "keto", "lami", "meto", "nor", "oxa", "pra",
    "que", "ris", "ser", "ter", "val", "zol", "ador", "bex", "cel", "dura", "rami", "sita",
)  # fmt: skip
_DRUG_MIDDLES = (
    "co", "da", "fe", "lo", "mi", "na", "pi", "ri", "so", "ta", "vi", "xa", "li", "ro", "be",
)  # fmt: skip
_DRUG_ENDS = (
    "pril", "olol", "statin", "sartan", "azole", "mab", "nib", "cillin", "mycin", "floxacin", "pine",
    "zepam", "triptan", "gliptin", "parin", "caine", "ide", "one", "ine", "ol",
)  # fmt: skip
_NUMBERED = ("item", "trial", "block", "run", "ses", "cond", "arm", "site", "lot", "batch")
_UNITS = ("mg", "mcg", "ml", "mmol/L", "mg/dL", "IU", "tablet", "oral tablet", "injection", "capsule")


def drug(draw: random.Random) -> str:
    """A word that sounds like a medicine, some with a dose."""
    name = (
        draw.choice(_DRUG_STARTS) + draw.choice(_DRUG_MIDDLES) * draw.randint(0, 1) + draw.choice(_DRUG_ENDS)
    )
    name = name.title() if draw.random() < 0.4 else name
    return (
        f"{name} {draw.choice((5, 10, 20, 25, 50, 100))} {draw.choice(_UNITS)}"
        if draw.random() < 0.3
        else name
    )


def gene(draw: random.Random) -> str:
    """A symbol that looks like a gene's."""
    letters = "".join(draw.choice("ABCDEFGHIKLMNOPRSTUVXYZ") for _ in range(draw.randint(2, 5)))
    return letters + (str(draw.randint(1, 30)) if draw.random() < 0.7 else "")


def code(draw: random.Random) -> str:
    """A code of a catalogue, a version, a file: nothing about a person."""
    digits = "".join(draw.choice("0123456789") for _ in range(draw.randint(2, 7)))
    letter = draw.choice("ABCDEFGHJKLMNRSTVZ")
    return draw.choice(
        (
            f"{letter}{digits[:2]}.{digits[-1]}",
            f"{draw.randint(0, 20)}.{draw.randint(0, 30)}.{draw.randint(0, 99)}",
            f"v{draw.randint(0, 9)}.{draw.randint(0, 30)}",
            f"#{draw.randrange(2**24):06x}",
            f"sub-{digits[:2]}_task-rest_bold.nii.gz",
            f"{letter}{digits[:2]}{draw.choice('ABCX')}{draw.choice('ABCX')}{digits[-2:]}",
            f"HP:{digits:0>7}",
            f"rs{digits}",
            f"NM_{digits:0>6}.{draw.randint(1, 9)}",
            f"{draw.choice(_NUMBERED)}{digits[:2]}",
            f"{draw.randint(80, 200)}/{draw.randint(40, 120)}",
            f"chr{draw.randint(1, 22)}:{digits}",
            gene(draw),
        )
    )


_LISTS = (ANATOMY, DISORDERS, ANSWERS, COLOURS, DEVICES, SPECIES, TESTS)
TERMS = [" ".join(term.split()) for words in _LISTS for term in words.split(";")]
