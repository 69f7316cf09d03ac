package c3po

import (
	"strings"
	"unicode"
)

// asciiOf spells lower-case letters in ASCII, for names that a person has to type.
var asciiOf = spellings(
	"a àáâãāăąǎả", "ae æä", "aa å", "c çćĉċč", "d ďđð", "e èéêëēĕėęěẽẹ", "g ĝğġģ", "h ĥħ", "i ìíîïĩīĭįıǐị", "j ĵ", "k ķ", "l ĺļľŀł",
	"n ñńņňŉ", "o òóôõōŏőøǒọ", "oe œö", "r ŕŗř", "s śŝşšș", "ss ß", "t ţťŧț", "th þ", "u ùúûũūŭůűųǔụ", "ue ü", "w ŵ", "y ýÿŷỳ", "z źżž",
	"a αά", "b β", "g γ", "d δ", "e εέ", "z ζ", "i ηήιίϊΐυύϋΰ", "th θ", "k κ", "l λ", "m μ", "n ν", "x ξ", "o οόωώ", "p π", "r ρ", "s σς", "t τ",
	"f φ", "ch χ", "ps ψ",
	"a а", "b б", "v в", "g гґ", "d д", "e еэє", "yo ё", "zh ж", "z з", "i иіы", "yi ї", "y й", "k к", "l л", "m м", "n н", "o о", "p п", "r р",
	"s с", "t т", "u у", "f ф", "kh х", "ts ц", "ch ч", "sh ш", "shch щ", "yu ю", "ya я", " ъь",
)

// spellings reads lines of a spelling, a space and the letters that have it.
func spellings(lines ...string) map[rune]string {
	all := map[rune]string{}
	for _, line := range lines {
		spelling, letters, _ := strings.Cut(line, " ")
		for _, letter := range letters {
			all[letter] = spelling
		}
	}
	return all
}

// inASCII spells the letters it knows in ASCII and drops accents that stand alone, as file
// systems may keep them; the rest stays.
func inASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		spelling, known := asciiOf[unicode.ToLower(r)]
		switch {
		case unicode.Is(unicode.Mn, r):
		case !known:
			b.WriteRune(r)
		case unicode.IsUpper(r) && spelling != "":
			b.WriteString(strings.ToUpper(spelling[:1]) + spelling[1:])
		default:
			b.WriteString(spelling)
		}
	}
	return b.String()
}
