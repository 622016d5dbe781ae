UPDATE blocking_episodes SET root = root #- '{root,user}' #- '{root,application}' #- '{root,client}'
WHERE organization_id = $1
