# Ends what runs in the directory $1 when standard input ends: each keeper as its operator
# would who is in a hurry, which also frees its semaphores, and what is left after 5 s.
cat >/dev/null
for signal in QUIT KILL; do
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		left=
		for file in "$1"/*.group; do
			group=$(cat "$file" 2>/dev/null)
			[ -n "$group" ] || continue
			kill -s "$signal" -- "-$group" 2>/dev/null && left=yes
		done
		[ -n "$left" ] || break
		sleep 0.25
	done
done
for _ in 1 2 3 4 5 6 7 8 9 10; do
	rm -rf "$1" 2>/dev/null && break
	sleep 0.1
done
