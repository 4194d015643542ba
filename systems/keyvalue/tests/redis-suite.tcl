# Read by Redis' test suite behind its own helpers. Notes for each test which commands it has sent and what has come of
# it, a line of REPORT each. What a test file sends outside its tests counts for all tests behind it; there errors are
# passed over. If there is a list of tests, WANTED, others are passed over, too.
set ::note [open $::env(REPORT) a]
set ::in_test 0
set ::used {}
set ::prepared {}
set ::groups {acl client cluster command config debug function latency memory module object pubsub script slowlog
    xgroup xinfo}
array set ::seen {}
set ::wanted {}
if {[info exists ::env(WANTED)]} {
    set list [open $::env(WANTED)]
    set ::wanted [split [read $list] "\n"]
    close $list
}

proc note_command {method arguments} {
    set method [string tolower $method]
    # The suite itself says so, before each test.
    if {$method eq "debug" && [lindex $arguments 0] eq "log"} { return }
    if {$method in $::groups && [llength $arguments]} {
        append method "|[string tolower [lindex $arguments 0]]"
    }
    if {$::in_test} { dict set ::used $method 1 } else { dict set ::prepared $method 1 }
}

rename ::redis::__dispatch__raw__ ::redis::dispatch_of_the_suite
proc ::redis::__dispatch__raw__ {id method arguments} {
    if {[info command ::redis::__method__$method] eq {}} { note_command $method $arguments }
    if {[catch {uplevel 1 [list ::redis::dispatch_of_the_suite $id $method $arguments]} answer options]} {
        if {!$::in_test} { return {} }
        return -options $options $answer
    }
    return $answer
}

rename test test_of_the_suite
proc test {name code args} {
    # Several have the same name.
    set number [incr ::seen($::curfile,$name)]
    set which [join [list $::curfile $number $name] "\t"]
    if {[llength $::wanted] && $which ni $::wanted} { return }
    set before [list $::num_passed $::num_failed]
    set ::used {}
    set ::in_test 1
    set status [catch {uplevel 1 [list test_of_the_suite $name $code {*}$args]} answer options]
    set ::in_test 0
    if {$::num_passed > [lindex $before 0]} {
        set result passed
    } elseif {$status || $::num_failed > [lindex $before 1]} {
        set result failed
    } else {
        return
    }
    puts $::note [join [list $result [lsort [dict keys [dict merge $::prepared $::used]]] $which] "\t"]
    flush $::note
    if {$status && !$::durable} { return -options $options $answer }
}

# As the suite's own, without what only Redis has to be told.
proc run_external_server_test {code overrides} {
    set ::prepared {}
    set client [redis $::host $::port 0 $::tls]
    lappend ::servers [dict create host $::host port $::port client $client config [dict create port $::port]]
    r flushall
    set ::prepared {}
    foreach {name value} $overrides {
        set saved($name) [lindex [r config get $name] 1]
        r config set $name $value
    }
    catch {uplevel 2 $code}
    foreach name [array names saved] { r config set $name $saved($name) }
    catch {[srv 0 client] close}
    set ::servers [lrange $::servers 0 end-1]
}
